/** What was heard, whatever the vendor calls its parts. */
export interface Transcript {
  readonly text: string
  /** As the vendor names it. */
  readonly language: string | undefined
  /** How long the recording is. */
  readonly seconds: number | undefined
  readonly words: readonly TranscriptWord[]
}

/** Times are seconds from the beginning of the recording. */
export interface TranscriptWord {
  readonly text: string
  /** What stands between the word before and this one: a space, or nothing in scripts without spaces. */
  readonly gap: string
  readonly start: number
  readonly end: number
  readonly speaker: string | undefined
}

/** A piece of a transcript that is read at one glance. */
export interface Segment {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly speaker: string | undefined
}
