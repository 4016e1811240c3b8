// kubernetes is two programs in one, which share most of their packages: `kubernetes etcd FLAG…` is the store, and
// `kubernetes FLAG…` the API server.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "etcd" {
		etcdmain.Main(append(os.Args[:1], os.Args[2:]...))
		return
	}
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
