"""web3.py: an unfunded key, and the price of gas that the node names."""

import asyncio
import json
import sys

from eth_account import Account
from web3 import AsyncWeb3, HTTPProvider, Web3, WebSocketProvider
from web3.exceptions import ContractLogicError, ExtraDataLengthError
from web3.gas_strategies.rpc import rpc_gas_price_strategy
from web3.middleware import ExtraDataToPOAMiddleware, SignAndSendRawMiddlewareBuilder

given = json.load(sys.stdin)
headers = {"authorization": given["authorization"]}
w3 = Web3(HTTPProvider(given["rpc"], request_kwargs={"headers": {**headers, "content-type": "application/json"}}))
w3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
account = Account.from_key(given["key"])
w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
w3.eth.default_account = account.address
w3.eth.set_gas_price_strategy(rpc_gas_price_strategy)  # blocks without a base fee need it
mined = lambda hash: w3.eth.wait_for_transaction_receipt(hash, poll_latency=0.1)

deployed = mined(w3.eth.contract(abi=given["abi"], bytecode=given["bytecode"]).constructor().transact())
contract = w3.eth.contract(abi=given["abi"], address=deployed.contractAddress)
try:
    Web3(w3.provider).eth.get_block("latest")
    raise AssertionError("without its setting for proof of authority, web3.py must refuse the header")
except ExtraDataLengthError:
    assert len(w3.eth.get_block("latest").proofOfAuthorityData) > 32


async def heard():
    live = AsyncWeb3(WebSocketProvider(given["wss"], websocket_kwargs={"extra_headers": headers}))
    async with live:
        await live.eth.subscribe("logs", {"address": contract.address})
        receipt = await asyncio.to_thread(store)
        events = []
        async for message in live.socket.process_subscriptions():
            events.append(int(message["result"]["data"].hex(), 16))
            if len(events) == len(given["values"]):
                return receipt.status, events


polled = []


def store():
    new = contract.events.Stored.create_filter(from_block="latest")
    for value in given["values"]:
        receipt = mined(contract.functions.set(value).transact())
        if value % 3 == 0:
            polled.extend(one.args.value for one in new.get_new_entries())
    polled.extend(one.args.value for one in new.get_new_entries())
    return receipt


status, events = asyncio.run(heard())
past = [one.args.value for one in contract.events.Stored().get_logs(from_block=0)]
try:
    contract.functions.fail().call()
except ContractLogicError as error:
    failure = str(error)
with w3.batch_requests() as batch:
    batch.add(contract.functions.get())
    batch.add(w3.eth.get_block("latest"))
    value, block = batch.execute()
assert block.number >= 2
told = {"value": value, "status": status, "past": past, "heard": events, "polled": polled}
print(json.dumps({**told, "failure": failure, "chainId": w3.eth.chain_id}))
