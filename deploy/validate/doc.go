// Package validate holds what operators run to the letter of the programs that
// will read it: it promises that Docker Compose, Docker's builder, kustomize and
// the Kubernetes API know every field that the files of deploy name, and that
// these files keep the rules of ours that no schema knows. It is a module of its
// own, so that none of those programs' code becomes a dependency of the server.
package validate
