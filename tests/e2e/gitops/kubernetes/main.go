// A Kubernetes API server with its store, etcd, in one process, for the tests of manifests: `kubernetes FOLDER FLAGS-OF-KUBE-APISERVER…`.
package main

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	address, err := store(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	command := app.NewAPIServerCommand()
	command.SetArgs(append([]string{"--etcd-servers", address}, os.Args[2:]...))
	os.Exit(cli.Run(command))
}

// store starts etcd on free ports and returns its address.
func store(folder string) (string, error) {
	config := embed.NewConfig()
	config.Dir = folder
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	free := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls = []url.URL{free}
	config.AdvertiseClientUrls = []url.URL{free}
	config.ListenPeerUrls = []url.URL{free}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return "http://" + etcd.Clients[0].Addr().String(), nil
	case err := <-etcd.Err():
		return "", err
	case <-time.After(30 * time.Second):
		return "", fmt.Errorf("etcd was not ready within 30 s")
	}
}
