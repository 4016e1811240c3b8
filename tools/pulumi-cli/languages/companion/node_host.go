package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// Runs programs in Node.js itself: Pulumi's SDK talks to the engine without a host in between, and so has all that the engine can
// do, such as hooks and transforms of the stack. The older host does the rest.
type nodeHost struct {
	releasedHost
}

const (
	runModule       = "@pulumi/pulumi/cmd/run"
	runPolicyModule = "@pulumi/pulumi/cmd/run-policy-pack"
)

// The exit code of a program whose error has been shown already.
const shownAlready = 32

func (h *nodeHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	folder := req.Info.ProgramDirectory
	module, err := moduleFrom(ctx, folder, runModule)
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	env, err := h.environment(req)
	if err != nil {
		return nil, err
	}
	options := req.Info.GetOptions().AsMap()
	given, _ := options["nodeargs"].(string)
	args := append(strings.Fields(given), module)
	for name, value := range map[string]string{
		"monitor": req.MonitorAddress, "engine": h.engine, "organization": req.Organization, "project": req.Project,
		"stack": req.Stack, "pwd": req.Pwd, "root-directory": req.Info.RootDirectory,
	} {
		if value != "" {
			args = append(args, "--"+name, value)
		}
	}
	if req.DryRun {
		args = append(args, "--dry-run")
	}
	args = append(args, "--parallel", fmt.Sprint(req.Parallel), filepath.Join(folder, req.Info.EntryPoint))
	run := exec.CommandContext(ctx, "node", append(args, req.Args...)...)
	run.Dir = folder
	run.Env = append(os.Environ(), env...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	err = run.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == shownAlready:
		return &pulumirpc.RunResponse{Bail: true}, nil
	default:
		return failed(fmt.Errorf("Program exited with non-zero exit code: %w", err))
	}
}

// The file of a module in the packages of a folder.
func moduleFrom(ctx context.Context, folder, name string) (string, error) {
	find := exec.CommandContext(ctx, "node", "-p", `require.resolve(process.argv[1], { paths: [process.cwd()] })`, name)
	find.Dir = folder
	found, err := find.Output()
	if err != nil {
		return "", fmt.Errorf("%s cannot be found from %s: install the project's packages there (npm install) first.", name, folder)
	}
	return strings.TrimSpace(string(found)), nil
}

// RunPlugin runs policy packs, which newer engines leave to the host; older ones start pulumi-analyzer-policy.
func (h *nodeHost) RunPlugin(
	req *pulumirpc.RunPluginRequest, answer grpc.ServerStreamingServer[pulumirpc.RunPluginResponse],
) error {
	if req.Kind != "analyzer" {
		return fmt.Errorf("this host runs policy packs, and no plugin of kind %q", req.Kind)
	}
	folder := req.Info.ProgramDirectory
	module, err := moduleFrom(answer.Context(), folder, runPolicyModule)
	if err != nil {
		return err
	}
	run := exec.CommandContext(answer.Context(), "node", append(append([]string{module}, req.Args...), folder)...)
	run.Dir = folder
	run.Env = append(os.Environ(), req.Env...)
	run.Stdout = sending(func(text []byte) error {
		return answer.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}})
	})
	run.Stderr = sending(func(text []byte) error {
		return answer.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: text}})
	})
	err = run.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	code := int32(run.ProcessState.ExitCode()) //nolint:gosec // of one byte
	return answer.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: code}})
}

// Sends what is written, one piece at a time.
type sending func(text []byte) error

var oneAtATime sync.Mutex

func (send sending) Write(text []byte) (int, error) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	return len(text), send(text)
}

func (h *nodeHost) environment(req *pulumirpc.RunRequest) ([]string, error) {
	// Without any configuration, {} and [] instead of null.
	config, err := json.Marshal(maps.Collect(maps.All(req.Config)))
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(append([]string{}, req.ConfigSecretKeys...))
	if err != nil {
		return nil, err
	}
	options := req.Info.GetOptions().AsMap()
	env := []string{"PULUMI_CONFIG=" + string(config), "PULUMI_CONFIG_SECRET_KEYS=" + string(secretKeys)}
	if typescript, given := options["typescript"].(bool); !given || typescript {
		env = append(env, "PULUMI_NODEJS_TYPESCRIPT=true")
	}
	if file, given := options["tsconfig"].(string); given {
		env = append(env, "PULUMI_NODEJS_TSCONFIG_PATH="+file)
	}
	return env, nil
}
