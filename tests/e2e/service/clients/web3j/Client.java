import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import okhttp3.OkHttpClient;
import org.web3j.abi.EventEncoder;
import org.web3j.abi.FunctionEncoder;
import org.web3j.abi.TypeReference;
import org.web3j.abi.datatypes.Event;
import org.web3j.abi.datatypes.Function;
import org.web3j.abi.datatypes.Type;
import org.web3j.abi.datatypes.generated.Uint256;
import org.web3j.crypto.Credentials;
import org.web3j.protocol.Web3j;
import org.web3j.protocol.core.DefaultBlockParameterName;
import org.web3j.protocol.core.methods.request.EthFilter;
import org.web3j.protocol.core.methods.request.Transaction;
import org.web3j.protocol.core.methods.response.EthCall;
import org.web3j.protocol.core.methods.response.EthLog;
import org.web3j.protocol.core.methods.response.Log;
import org.web3j.protocol.http.HttpService;
import org.web3j.protocol.websocket.WebSocketClient;
import org.web3j.protocol.websocket.WebSocketService;
import org.web3j.tx.RawTransactionManager;
import org.web3j.tx.response.PollingTransactionReceiptProcessor;
import org.web3j.utils.Numeric;

/** web3j: over HTTP, it polls filters. */
public class Client {
  static final DefaultBlockParameterName latest = DefaultBlockParameterName.LATEST;

  public static void main(String[] arguments) throws Exception {
    ObjectMapper json = new ObjectMapper();
    JsonNode given = json.readTree(System.in);
    String authorization = given.get("authorization").asText();
    OkHttpClient http =
        new OkHttpClient.Builder()
            .addInterceptor(
                chain ->
                    chain.proceed(chain.request().newBuilder().header("authorization", authorization).build()))
            .build();
    Web3j web3 =
        Web3j.build(new HttpService(given.get("rpc").asText(), http), 500, Executors.newScheduledThreadPool(4));
    WebSocketService socket =
        new WebSocketService(
            new WebSocketClient(new URI(given.get("wss").asText()), Map.of("authorization", authorization)), false);
    socket.connect();

    long chainId = web3.ethChainId().send().getChainId().longValue();
    Credentials own = Credentials.create(given.get("key").asText());
    RawTransactionManager sender = new RawTransactionManager(web3, own, chainId);
    PollingTransactionReceiptProcessor receipts = new PollingTransactionReceiptProcessor(web3, 500, 100);
    BigInteger price = web3.ethGasPrice().send().getGasPrice();
    BigInteger gas = BigInteger.valueOf(1_000_000);
    String code = given.get("bytecode").asText();
    String made = sender.sendTransaction(price, gas, null, code, BigInteger.ZERO, true).getTransactionHash();
    String address = receipts.waitForTransactionReceipt(made).getContractAddress();

    String topic = EventEncoder.encode(new Event("Stored", List.of(new TypeReference<Uint256>() {})));
    List<Integer> heard = new CopyOnWriteArrayList<>();
    List<Integer> polled = new CopyOnWriteArrayList<>();
    Web3j.build(socket)
        .logsNotifications(List.of(address), List.of(topic))
        .subscribe(one -> heard.add(number(one.getParams().getResult().getData())));
    EthFilter news = new EthFilter(latest, latest, address);
    news.addSingleTopic(topic);
    web3.ethLogFlowable(news).subscribe(log -> polled.add(number(log.getData())));
    Thread.sleep(2_000); // web3j does not say when it has its filter

    String status = "";
    for (JsonNode value : given.get("values")) {
      String data = encoded("set", new Uint256(value.asInt()));
      String sent = sender.sendTransaction(price, gas, address, data, BigInteger.ZERO).getTransactionHash();
      status = receipts.waitForTransactionReceipt(sent).getStatus();
    }
    int count = given.get("values").size();
    while (heard.size() < count || polled.size() < count) Thread.sleep(50);

    List<Integer> past = new ArrayList<>();
    EthFilter all = new EthFilter(DefaultBlockParameterName.EARLIEST, latest, address);
    for (EthLog.LogResult<?> log : web3.ethGetLogs(all).send().getLogs())
      past.add(number(((Log) log.get()).getData()));
    Map<String, Object> told =
        Map.of(
            "value", number(call(web3, address, "get").getValue()),
            "status", Integer.decode(status),
            "past", past,
            "heard", heard,
            "polled", polled,
            "failure", call(web3, address, "fail").getRevertReason(),
            "chainId", chainId);
    System.out.println(json.writeValueAsString(told));
    System.exit(0);
  }

  static String encoded(String name, Type<?>... inputs) {
    return FunctionEncoder.encode(new Function(name, List.of(inputs), List.of()));
  }

  static EthCall call(Web3j web3, String address, String name) throws Exception {
    return web3.ethCall(Transaction.createEthCallTransaction(null, address, encoded(name)), latest).send();
  }

  static int number(String data) {
    return Numeric.toBigInt(data).intValue();
  }
}
