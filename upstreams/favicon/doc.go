// Package favicon finds the icon of a site on the site itself. It promises that
// what it returns is a picture by its own bytes, whatever the server calls it,
// that nothing is asked which Check has not passed, redirects and links
// included, and that "there is no icon" is never said of a site that did not
// answer.
package favicon
