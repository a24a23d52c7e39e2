// WEBHOOK_SECRET=whsec_… go run verify.go '<webhook-id>' '<webhook-timestamp>' '<webhook-signature>' < body
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Verify tells whether Porter sent the body just now. Hand it the body as it arrived.
func Verify(secret, id, timestamp, signatures string, body []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return fmt.Errorf("the secret is not one of a webhook")
	}
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("the timestamp is not a number")
	}
	if age := time.Since(time.Unix(sent, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return fmt.Errorf("sent %d seconds ago", int(age.Seconds()))
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, signature := range strings.Fields(signatures) {
		if hmac.Equal([]byte(signature), expected) {
			return nil
		}
	}
	return fmt.Errorf("no signature matches")
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "Set WEBHOOK_SECRET, and give webhook-id, webhook-timestamp and webhook-signature.")
		os.Exit(2)
	}
	body, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = Verify(os.Getenv("WEBHOOK_SECRET"), os.Args[1], os.Args[2], os.Args[3], body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("genuine")
}
