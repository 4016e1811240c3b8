package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Leaves programs to Pulumi's own host of an older release, which lies in the folder `released` beside this program's.
type releasedHost struct {
	companion
	engine string

	starting sync.Mutex
	client   pulumirpc.LanguageRuntimeClient
}

// The options of Pulumi.yaml that the older hosts take, as flags: Pulumi gives them with each call only.
var releasedOptions = map[string][]string{
	"nodejs": {"typescript", "nodeargs", "tsconfig"},
	"python": {"virtualenv"},
}

func (h *releasedHost) flags(info *pulumirpc.ProgramInfo) []string {
	flags := []string{"-root=" + info.GetRootDirectory()}
	for _, name := range releasedOptions[h.language] {
		if value, given := info.GetOptions().AsMap()[name]; given {
			flags = append(flags, fmt.Sprintf("-%s=%v", name, value))
		}
	}
	return append(flags, h.engine)
}

// Starts the older host for the first call. It is in this process's group, and Pulumi ends the group.
func (h *releasedHost) released(info *pulumirpc.ProgramInfo) (pulumirpc.LanguageRuntimeClient, error) {
	h.starting.Lock()
	defer h.starting.Unlock()
	if h.client != nil {
		return h.client, nil
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	host := exec.Command(filepath.Join(filepath.Dir(own), "..", "released", filepath.Base(own)), h.flags(info)...)
	host.Stderr = os.Stderr
	output, err := host.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := host.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(output)
	port, err := lines.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not tell its port: %w", host.Path, err), host.Wait())
	}
	go func() {
		_, _ = io.Copy(os.Stdout, lines) // what the program prints
		_ = host.Wait()
	}()
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return nil, err
	}
	h.client = pulumirpc.NewLanguageRuntimeClient(conn)
	return h.client, nil
}

func (h *releasedHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

func (h *releasedHost) GetRequiredPlugins( //nolint:staticcheck // what the older hosts have
	ctx context.Context, req *pulumirpc.GetRequiredPluginsRequest,
) (*pulumirpc.GetRequiredPluginsResponse, error) {
	host, err := h.released(req.Info)
	if err != nil {
		return nil, err
	}
	return host.GetRequiredPlugins(ctx, req)
}

func (h *releasedHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	host, err := h.released(req.Info)
	if err != nil {
		return nil, err
	}
	return host.Run(ctx, req)
}

func (h *releasedHost) About(ctx context.Context, req *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	host, err := h.released(req.Info)
	if err != nil {
		return nil, err
	}
	return host.About(ctx, req)
}

func (h *releasedHost) GetProgramDependencies(
	ctx context.Context, req *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	host, err := h.released(req.Info)
	if err != nil {
		return nil, err
	}
	return host.GetProgramDependencies(ctx, req)
}

func (h *releasedHost) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, answer grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse],
) error {
	host, err := h.released(req.Info)
	if err != nil {
		return err
	}
	installing, err := host.InstallDependencies(answer.Context(), req)
	if err != nil {
		return err
	}
	for {
		line, err := installing.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = answer.Send(line)
		}
		if err != nil {
			return err
		}
	}
}
