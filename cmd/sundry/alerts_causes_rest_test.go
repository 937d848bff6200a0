package main

func causesOfSettings() []*cause  { return nil }
func causesOfUpstreams() []*cause { return nil }
func causesOfCache() []*cause     { return nil }
func causesOfRedis() []*cause     { return nil }
