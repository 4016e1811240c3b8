// What the language hosts lack that Go's module proxy has: code generation for Node.js, Python and Go, a host for Go, and one for
// Node.js that runs programs as today's does.
// One program, named after the host that it stands for. The hosts of an official Pulumi do all of this themselves.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/cmdutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	language := strings.TrimPrefix(name, "pulumi-language-")
	if _, known := generators[language]; !known || len(os.Args) < 2 {
		cmdutil.Exit(fmt.Errorf("%s is started by Pulumi, with its address", name))
	}
	if err := serve(language, os.Args[len(os.Args)-1]); err != nil {
		cmdutil.Exit(err)
	}
}

// Serves until the engine is gone, and tells it the port on stdout.
func serve(language, engine string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := rpcutil.Healthcheck(ctx, engine, 5*time.Minute, cancel); err != nil {
		return err
	}
	end := make(chan bool)
	go func() {
		<-ctx.Done()
		close(end)
	}()
	var host pulumirpc.LanguageRuntimeServer
	switch language {
	case "go":
		host = &goHost{companion: companion{language: language}, engine: engine}
	case "nodejs":
		host = &nodeHost{releasedHost{companion: companion{language: language}, engine: engine}}
	default:
		host = &releasedHost{companion: companion{language: language}, engine: engine}
	}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: end,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port)
	return <-handle.Done
}
