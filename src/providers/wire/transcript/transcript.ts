/** A transcript of any vendor. */
export interface Transcript {
  readonly text: string
  /** By the vendor's name. */
  readonly language: string | undefined
  /** How long the recording is. */
  readonly seconds: number | undefined
  readonly words: readonly TranscriptWord[]
}

/** Times are seconds from the beginning of the recording. */
export interface TranscriptWord {
  readonly text: string
  /** The text between the word before and this one: a space, or '' in scripts without spaces. */
  readonly gap: string
  readonly start: number
  readonly end: number
  readonly speaker: string | undefined
}

/** A piece of a transcript that fits a subtitle. */
export interface Segment {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly speaker: string | undefined
}
