// WEBHOOK_SECRET=whsec_… java Verify.java '<webhook-id>' '<webhook-timestamp>' '<webhook-signature>' < body

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
  /** Tells whether Porter sent the body just now. Hand it the body as it arrived. */
  static boolean isGenuine(String secret, String id, String timestamp, String signatures, byte[] body)
      throws Exception {
    if (!timestamp.matches("\\d{1,15}")) return false;
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
    if (Math.abs(age) > 300) return false;
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
    for (String signature : signatures.split(" "))
      if (MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), expected)) return true;
    return false;
  }

  public static void main(String[] args) throws Exception {
    String secret = System.getenv().getOrDefault("WEBHOOK_SECRET", "");
    if (args.length != 3 || secret.isEmpty()) {
      System.err.println("Set WEBHOOK_SECRET, and give webhook-id, webhook-timestamp and webhook-signature.");
      System.exit(2);
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    System.in.transferTo(body);
    if (isGenuine(secret, args[0], args[1], args[2], body.toByteArray())) {
      System.out.println("genuine");
      return;
    }
    System.err.println("not genuine");
    System.exit(1);
  }
}
