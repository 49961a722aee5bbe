import type { Segment } from './transcript.ts'

/** SubRip: numbered cues, a comma before the milliseconds. */
export function subRip(segments: readonly Segment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${cue(text)}\n\n`)
    .join('')
}

/** WebVTT: a dot before the milliseconds, and text in which `&` and `<` are markup. */
export function webVtt(segments: readonly Segment[]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${vttCue(text)}\n\n`,
  )
  return `WEBVTT\n\n${cues.join('')}`
}

const CUE_END = /-->\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{3})/g

/** When the last cue of SubRip or WebVTT ends, in seconds; undefined where there is none. */
export function lastCueEnd(subtitles: string): number | undefined {
  let end: number | undefined
  for (const [, hours = '0', minutes, seconds, thousandths] of subtitles.matchAll(CUE_END)) {
    const at = 3600 * Number(hours) + 60 * Number(minutes) + Number(seconds) + Number(thousandths) / 1000
    if (end === undefined || at > end) end = at
  }
  return end
}

/** `HH:MM:SS,mmm`, rounded to whole milliseconds before it is taken apart. */
function clock(seconds: number, point: ',' | '.'): string {
  const total = Math.round(seconds * 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes, rest] = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60, total % 60_000]
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(rest / 1000))}${point}${String(rest % 1000).padStart(3, '0')}`
}

/** An empty line would end a cue, an arrow would begin one. */
const cue = (text: string) =>
  text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll('-->', '->')

const vttCue = (text: string) => cue(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
