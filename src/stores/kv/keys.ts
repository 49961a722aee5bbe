declare const branded: unique symbol
/** A key of the shared store. Only the functions below make one, so that all keys can be read here. */
export type Key = string & { readonly [branded]: true }

const key = (text: string) => text as Key

/** Known version of a record (string of an integer). 30 days from its last change. */
export const versionKey = (record: string) => key(`gateway:version:${record}`)
/** Hash of a subject's window counters and their ends. One day from its last use, the longest window. */
export const quotaKey = (subject: string) => key(`gateway:quota:${subject}`)
/** Sorted set: call id by lease end. An hour from its last use, or the lease if that is longer. */
export const slotKey = (subject: string) => key(`gateway:slots:${subject}`)
/** Hash: spent and held in nano-dollars, the period, when the spend was taken from SQL, since when it is below SQL's, and
 *  when this key and its holds expire. 40 days from its last use; SQL re-seeds it. */
export const budgetKey = (subject: string) => key(`gateway:budget:${subject}`)
/** Sorted set: `<call id>|<nano-dollars>` by lease end. As slots. */
export const holdKey = (subject: string) => key(`gateway:holds:${subject}`)
/** Hash of a deployment's shared signals. One day from its last use, or its cooldown if that is longer. */
export const deploymentKey = (deployment: string) => key(`gateway:deployment:${deployment}`)
/** Sorted set: attempt id by lease end. As slots. */
export const activeKey = (deployment: string) => key(`gateway:active:${deployment}`)
/** What a key's caller was read from, and when, as JSON; the number is that of its form. An hour; changes remove it. */
export const authKey = (keyHash: string) => key(`gateway:auth:2:${keyHash}`)
/** Marks a call of a tool, by a digest of its name, as cancelled by its client. 10 seconds, or until the call sees it. */
export const cancelledToolKey = (digest: string) => key(`gateway:cancelled-tool:${digest}`)
/** Marks a settled call. One hour. */
export const settledKey = (id: string) => key(`gateway:settled:${id}`)
/** Marks that a job was begun in one of its intervals. Two intervals. */
export const jobKey = (job: string, interval: number) => key(`gateway:job:${job}:${interval}`)
/** Marks that a wake-up for batches is on its way. Until it should have arrived. */
export const batchWakeKey = () => key('gateway:batch-wake')
/** The owner and deployment of an object that a provider stores, by the provider's id. As long as the provider stores
 *  it, 30 days at most. */
export const providerIdKey = (id: string) => key(`gateway:id:${id}`)
/** A response that the gateway keeps for a tenant, sealed. As long as responses are kept, or until it is deleted. */
export const responseKey = (tenant: string, id: string) => key(`gateway:response:${tenant}:${id}`)
/** The characters of the responses that were kept for a tenant. As long as responses are kept, from the first on. */
export const keptResponsesKey = (tenant: string) => key(`gateway:kept-responses:${tenant}`)
/** Says that an account's password was proved from an address. 90 days from the last time. */
export const signedInKey = (account: string, address: string) => key(`gateway:signed-in:${account}:${address}`)
/** A login at an identity provider that has not come back yet, as JSON, by the digest of its state. 10 minutes, taken
 *  once. */
export const signOnKey = (stateDigest: string) => key(`gateway:sign-on:${stateDigest}`)
/** A cached answer by the digest of its call, as `answer-cache.ts` says. As long as it may be used. */
export const answerKey = (digest: string) => key(`gateway:answer:${digest}`)
/** Whether a value holds the content of calls. */
export const isContent = (one: Key) => one.startsWith(answerKey('')) || one.startsWith('gateway:response:')
/** The call that asks for an answer while identical ones wait, by the same digest. Its lease. */
export const leadKey = (digest: string) => key(`gateway:lead:${digest}`)
/** When cached answers were last cleared: those of a scope, of a model, of both together, or all ('' for every). As long
 *  as an answer can live. */
export const clearedKey = (scope: string, model: string) => key(`gateway:cleared:${JSON.stringify([scope, model])}`)
/** Hash of shared metric counters; the number is that of their form. Kept. */
export const countersKey = () => key('gateway:counters:2')
/** List of a shared log's newest entries. 7 days from the last. */
export const logKey = (log: string) => key(`gateway:log:${log}`)

/** The hash of the token that makes the first account. One hour, or until it is used. */
export const setupKey = () => key('gateway:setup')

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** For so long a budget may be below the ledger's: a row may be written before its call's settlement arrives. */
export const SHORT_MS = 3000

/** The time to live of keys after their last use, or nine tenths of it where a use need not give a new one. It only frees
 *  memory: values that end hold their own end. */
export const LIFETIME_MS = {
  version: 30 * DAY_MS,
  quota: DAY_MS,
  leases: HOUR_MS,
  budget: 40 * DAY_MS,
  deployment: DAY_MS,
  settled: HOUR_MS,
  log: 7 * DAY_MS,
} as const
