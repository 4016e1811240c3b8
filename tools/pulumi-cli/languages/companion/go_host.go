package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Builds and runs programs in Go.
type goHost struct {
	companion
	engine string
}

func (h *goHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

// Nothing is installed beforehand: the engine looks for a plugin when the first resource asks for it.
func (h *goHost) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *goHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	folder := req.Info.ProgramDirectory
	var program string
	if target, given := req.Info.GetOptions().AsMap()["buildTarget"].(string); given {
		program = filepath.Join(folder, target) // stays there, so that the next build finds that nothing has changed
	} else {
		scratch, err := os.MkdirTemp("", "pulumi-go-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(scratch)
		program = filepath.Join(scratch, "program.exe")
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, req.Info.EntryPoint)
	build.Dir = folder
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return failed(fmt.Errorf("the program does not compile: %w", err))
	}
	env, err := h.environment(req)
	if err != nil {
		return nil, err
	}
	run := exec.CommandContext(ctx, program, req.Args...)
	run.Dir = req.Pwd
	run.Env = append(os.Environ(), env...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		return failed(fmt.Errorf("the program ended with an error: %w", err))
	}
	return &pulumirpc.RunResponse{}, nil
}

// What `pulumi install` asks for.
func (h *goHost) InstallDependencies(
	req *pulumirpc.InstallDependenciesRequest, answer grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse],
) error {
	tidy := exec.CommandContext(answer.Context(), "go", "mod", "tidy")
	tidy.Dir = req.Info.ProgramDirectory
	output, err := tidy.CombinedOutput()
	return errors.Join(answer.Send(&pulumirpc.InstallDependenciesResponse{Stderr: output}), err)
}

// The message is for a program that ended; anything else is a fault of the host.
func failed(err error) (*pulumirpc.RunResponse, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return nil, err
}

func (h *goHost) environment(req *pulumirpc.RunRequest) ([]string, error) {
	config, err := json.Marshal(req.Config)
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(req.ConfigSecretKeys)
	if err != nil {
		return nil, err
	}
	return []string{
		pulumi.EnvOrganization + "=" + req.Organization,
		pulumi.EnvProject + "=" + req.Project,
		pulumi.EnvPulumiRootDirectory + "=" + req.Info.RootDirectory,
		pulumi.EnvStack + "=" + req.Stack,
		pulumi.EnvConfig + "=" + string(config),
		pulumi.EnvConfigSecretKeys + "=" + string(secretKeys),
		fmt.Sprintf("%s=%v", pulumi.EnvDryRun, req.DryRun),
		fmt.Sprintf("%s=%d", pulumi.EnvParallel, req.Parallel),
		pulumi.EnvMonitor + "=" + req.MonitorAddress,
		pulumi.EnvEngine + "=" + h.engine,
	}, nil
}
