import * as z from 'zod'
import { lazily } from '../../lib/lazily.ts'
import { checked, evenIfBroken, flag, isMap, positiveCount, section, text } from '../fields.ts'
import { CALLBACK_NEEDS, callbackSettings } from './callback-settings.ts'
import { mcpServers } from './mcp-servers.ts'

/** What a sink is told of a call fits into memory many times over. */
const MOST_LOGGED_BYTES = 1024 * 1024

/** Of the end of a key. */
const MOST_WARNINGS = 10
const MOST_DAYS_AHEAD = 365

const chains = (description: string) =>
  z
    .array(z.record(text(), z.array(text()).min(1)))
    .default([])
    .describe(description)

/** Fallback chains, callbacks and managed tools. */
export const gatewaySettings = lazily(() =>
  section({
    fallbacks: chains(
      'For each model group the groups to try in order after timeouts, rate limits and provider errors.',
    ),
    context_window_fallbacks: chains(
      'For each model group the groups to try in order when the input is too large for it.',
    ),
    content_policy_fallbacks: chains(
      "For each model group the groups to try in order when a provider's policy refuses.",
    ),
    success_callback: z.array(callbackSettings().keyof()).default([]).describe('The sinks that receive every call.'),
    callback_settings: callbackSettings().prefault({}).describe('Settings of those sinks, by name.'),
    turn_off_message_logging: flag()
      .default(false)
      .describe('Keeps the content of requests and answers out of every sink, log and audit event.'),
    max_logged_bytes: positiveCount()
      .max(MOST_LOGGED_BYTES)
      .default(16_384)
      .describe("The most bytes of a request's content, and of an answer's, that go to a sink."),
    redact: z
      .array(checked(mistakeInPattern))
      .default([])
      .describe('Regular expressions (JavaScript, flags gu); what they match in content is replaced by [redacted].'),
    key_expiring_days: z
      .array(z.int().min(1).max(MOST_DAYS_AHEAD))
      .max(MOST_WARNINGS)
      .default([7, 1])
      .describe('How many days before the end of a key sinks get key.expiring; an empty list turns that off.'),
    mcp_servers: mcpServers().default([]).describe('Servers of managed tools.'),
  }).superRefine((settings, context) => {
    if (!Array.isArray(settings.success_callback)) return
    const byName: unknown = settings.callback_settings
    for (const name of new Set(settings.success_callback)) {
      const given: unknown = isMap(byName) ? byName[name] : undefined
      for (const field of CALLBACK_NEEDS[name] ?? []) {
        if (isMap(given) && given[field] !== undefined) continue
        const message = `is required while success_callback lists ${name}; add it`
        context.addIssue({ code: 'custom', path: ['callback_settings', name, field], message })
      }
    }
  }, evenIfBroken),
)

function mistakeInPattern(text: string): string | undefined {
  try {
    return new RegExp(text, 'gu').test('')
      ? 'matches an empty text, so that it would redact between all letters'
      : undefined
  } catch {
    return 'is not a regular expression'
  }
}
