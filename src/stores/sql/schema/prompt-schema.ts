import type { Defaulted, Int4, Json, Timestamp } from './column-types.ts'

/** A prompt template. */
export interface GatewayPromptTable {
  key: string
  state: Defaulted<'active' | 'archived'>
  description: Defaulted<string>
  /** The version that each label names. */
  labels: Defaulted<Json<Record<string, number>>>
  /** The version that each label named before it was moved. */
  former_labels: Defaulted<Json<Record<string, number>>>
  /** The newest version. */
  latest: Int4
  revision: Defaulted<Int4>
  created_at: Defaulted<Timestamp>
  updated_at: Defaulted<Timestamp>
}

/** A version of a prompt, which never changes. */
export interface GatewayPromptVersionTable {
  key: string
  version: Int4
  messages: Json<unknown>
  variables: Json<Record<string, unknown>>
  created_at: Defaulted<Timestamp>
  created_by: string
  note: Defaulted<string>
}
