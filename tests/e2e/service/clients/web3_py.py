# web3.py: an unfunded key, and all fees as web3.py chooses them.
import asyncio
import json
import sys

from web3 import AsyncWeb3, HTTPProvider, Web3, WebSocketProvider
from web3.middleware import SignAndSendRawMiddlewareBuilder

given = json.load(sys.stdin)
headers = {"authorization": given["authorization"], "content-type": "application/json"}


async def main():
    web3 = Web3(HTTPProvider(given["rpc"], request_kwargs={"headers": headers}))
    account = web3.eth.account.from_key(given["key"])
    web3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)
    web3.eth.default_account = account.address
    wait = web3.eth.wait_for_transaction_receipt
    deployed = web3.eth.contract(abi=given["abi"], bytecode=given["bytecode"]).constructor().transact()
    contract = web3.eth.contract(abi=given["abi"], address=wait(deployed).contractAddress)
    live = WebSocketProvider(given["wss"], websocket_kwargs={"additional_headers": {"authorization": given["authorization"]}})
    async with AsyncWeb3(live) as socket:
        await socket.eth.subscribe("logs", {"address": contract.address})
        receipt = wait(contract.functions.set(42).transact())
        async for message in socket.socket.process_subscriptions():
            heard = int(message["result"]["data"].hex(), 16)
            break
    past = [event["args"]["value"] for event in contract.events.Stored().get_logs(from_block=0)]
    try:
        contract.functions.fail().call()
    except Exception as error:
        failure = str(error)
    with web3.batch_requests() as batch:
        batch.add(contract.functions.get())
        batch.add(web3.eth.get_block("latest"))
        value, _ = batch.execute()
    told = {"value": value, "status": receipt.status, "past": past, "heard": heard}
    print(json.dumps({**told, "failure": failure, "chainId": web3.eth.chain_id}))


asyncio.run(main())
