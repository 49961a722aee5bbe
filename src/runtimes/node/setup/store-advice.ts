/** What an operator does about a store, by the word that a failure of it has: its own error code, or what ended the
 *  connection. The first that fits holds. */
const ADVICE: readonly (readonly [word: RegExp, advice: string])[] = [
  [/^(WRONGPASS|NOAUTH)$/, 'correct the user and the password in REDIS_URL'],
  [/^NOPERM$/, 'let its user run scripts that write keys gateway:*'],
  [/^OOM$/, 'give it more memory (maxmemory)'],
  [/^MISCONF$/, 'see its log: it takes no writes while it cannot save them to its disk'],
  [/^NOREPLICAS$/, 'see its replicas: it takes no writes without them (min-replicas-to-write)'],
  [/^(READONLY|MASTERDOWN)$/, 'it is a replica, which takes no writes: name the primary one in REDIS_URL'],
  [/^(CROSSSLOT|CLUSTERDOWN|MOVED)$/, 'a cluster cannot run its scripts: name a single server in REDIS_URL'],
  [/^LOADING$/, 'wait until it has read its data'],
  [/EXPIRED|NOT_YET/, 'renew the certificate of the server, or set the clock of this machine'],
  [/ALTNAME/, 'name the server in REDIS_URL as its certificate does'],
  [/ALERT/, 'name a certificate that it accepts, with its key, in REDIS_URL (sslcert=FILE&sslkey=FILE)'],
  [/CERT|VERIFY|ISSUER/, 'name the certificate of its authority in REDIS_URL (sslrootcert=FILE)'],
  [/ENOENT|EACCES|PEM|X509/, 'correct the files of sslrootcert, sslcert and sslkey in REDIS_URL'],
  [/^ENOTFOUND$|^EAI_AGAIN$/, 'correct the host in REDIS_URL, or see the DNS of this machine'],
  [/^ECONNREFUSED$/, 'start it, or correct the host and the port in REDIS_URL'],
  [/^ERR$/, 'see that REDIS_URL names a Redis, by rediss:// one that speaks TLS'],
  [/SSL|EPROTO|ECONNRESET/, 'see whether it speaks TLS: redis:// is without, rediss:// with it'],
]

export function storeAdvice(word: string): string {
  return ADVICE.find(([known]) => known.test(word))?.[1] ?? 'see REDIS_URL, and that the server lets this machine in'
}
