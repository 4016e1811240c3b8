// The client of go-ethereum: an unfunded key, and all fees as it chooses them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/accounts/abi/bind"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/clique"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

type input struct {
	RPC, WSS, Authorization, Bytecode, Key string
	ABI                                    json.RawMessage
	Values                                 []int64
	ChainID                                int64
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	ctx := context.Background()
	var given input
	must(0, json.NewDecoder(os.Stdin).Decode(&given))
	dial := func(url string) *ethclient.Client {
		return ethclient.NewClient(must(rpc.DialOptions(ctx, url, rpc.WithHeader("authorization", given.Authorization))))
	}
	client, live := dial(given.RPC), dial(given.WSS)
	contract := must(abi.JSON(strings.NewReader(string(given.ABI))))
	key := must(crypto.HexToECDSA(given.Key[2:]))
	options := must(bind.NewKeyedTransactorWithChainID(key, big.NewInt(given.ChainID)))

	address, deployed, store, err := bind.DeployContract(options, contract, common.FromHex(given.Bytecode), client)
	must(0, err)
	must(bind.WaitDeployed(ctx, client, deployed))
	query := ethereum.FilterQuery{Addresses: []common.Address{address}}
	events := make(chan types.Log, len(given.Values))
	must(live.SubscribeFilterLogs(ctx, query, events))
	var filter string
	must(0, client.Client().CallContext(ctx, &filter, "eth_newFilter", map[string]any{"address": address}))
	var receipt *types.Receipt
	heard, polled := []int64{}, []int64{}
	for _, value := range given.Values {
		receipt = must(bind.WaitMined(ctx, client, must(store.Transact(options, "set", big.NewInt(value)))))
	}
	for range given.Values {
		heard = append(heard, new(big.Int).SetBytes((<-events).Data).Int64())
	}
	var changes []types.Log
	must(0, client.Client().CallContext(ctx, &changes, "eth_getFilterChanges", filter))
	for _, log := range changes {
		polled = append(polled, new(big.Int).SetBytes(log.Data).Int64())
	}
	sealed(ctx, client)

	query.FromBlock = big.NewInt(0)
	past := []int64{}
	for _, log := range must(client.FilterLogs(ctx, query)) {
		past = append(past, new(big.Int).SetBytes(log.Data).Int64())
	}
	failure := store.Call(nil, &[]any{}, "fail")
	var value, chainID string
	batch := []rpc.BatchElem{
		{Method: "eth_call", Args: []any{map[string]any{"to": address, "input": "0x6d4ce63c"}, "latest"}, Result: &value},
		{Method: "eth_chainId", Result: &chainID},
	}
	must(0, client.Client().BatchCallContext(ctx, batch))
	must(0, json.NewEncoder(os.Stdout).Encode(map[string]any{
		"value":   new(big.Int).SetBytes(common.FromHex(value)).Int64(),
		"status":  receipt.Status,
		"past":    past,
		"heard":   heard,
		"polled":  polled,
		"failure": failure.Error(),
		"chainId": new(big.Int).SetBytes(common.FromHex(chainID)).Int64(),
	}))
}

// Each header has the hash that its block and the next one show; clique's also has a signer that it accepts.
func sealed(ctx context.Context, client *ethclient.Client) {
	var signers []common.Address
	engine := clique.New(&params.CliqueConfig{Period: 1, Epoch: 30000}, rawdb.NewMemoryDatabase())
	isClique := client.Client().CallContext(ctx, &signers, "clique_getSigners") == nil
	for number := int64(0); number < 3; number++ {
		header := must(client.HeaderByNumber(ctx, big.NewInt(number)))
		block := must(client.BlockByHash(ctx, header.Hash()))
		next := must(client.HeaderByNumber(ctx, big.NewInt(number+1)))
		if block.NumberU64() != uint64(number) || next.ParentHash != header.Hash() {
			must(0, fmt.Errorf("block %d has another hash", number))
		}
		if isClique {
			if author := must(engine.Author(next)); author != signers[0] {
				must(0, fmt.Errorf("%s sealed block %d, not %s", author, number+1, signers[0]))
			}
		}
	}
}
