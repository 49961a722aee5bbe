import { describe, expect, it } from 'vitest'
import { piecesOf } from '../../../../src/lib/bytes/pieces.ts'
import type { TranscriptionRequest } from '../../../../src/modes/audio-transcription.ts'
import { segmentsOf } from '../../../../src/providers/wire/transcript/segments.ts'
import { subRip, webVtt } from '../../../../src/providers/wire/transcript/subtitles.ts'
import type { Transcript, TranscriptWord } from '../../../../src/providers/wire/transcript/transcript.ts'
import { transcriptReply } from '../../../../src/providers/wire/transcript/transcript-reply.ts'

const decoder = new TextDecoder()

/** Words said one after another, half a second each; a gap of `pause` seconds is written `|`, a speaker `A:`. */
function said(text: string, gap = ' '): TranscriptWord[] {
  const words: TranscriptWord[] = []
  let at = 0
  let speaker: string | undefined
  for (const piece of text.split(' ')) {
    if (piece === '|') at += 0.8
    else if (/^[AB]:$/.test(piece)) speaker = piece[0]
    else {
      words.push({ text: piece, gap: words.length === 0 ? '' : gap, start: at, end: at + 0.5, speaker })
      at += 0.5
    }
  }
  return words
}

const heard = (words: TranscriptWord[], seconds = words.at(-1)?.end): Transcript => ({
  text: words.map(({ text, gap }) => gap + text).join(''),
  language: 'en',
  seconds,
  words,
})

const SILENCE: Transcript = { text: '', language: undefined, seconds: 3, words: [] }

function written(transcript: Transcript, asked: Partial<TranscriptionRequest>) {
  const file = { filename: 'a.wav', contentType: 'audio/wav', open: () => piecesOf(new Uint8Array()) }
  const reply = transcriptReply(transcript, { model: 'm', file, ...asked })
  return { text: decoder.decode(reply.bytes), contentType: reply.bytes ? reply.contentType : '', usage: reply.usage }
}

const times = (list: readonly (readonly [number, number, string])[]) =>
  list.map(([start, end, text]) => ({ start, end, text, speaker: undefined }))

describe('segments', () => {
  const cut = (text: string) => segmentsOf(heard(said(text))).map((segment) => segment.text)

  it.each([
    ['at the end of a sentence', 'We came home. It rained.', ['We came home.', 'It rained.']],
    ['behind the quotes that close it', 'They said “go.” We went.', ['They said “go.”', 'We went.']],
    ['not behind an abbreviation', 'Dr. Who is in.', ['Dr. Who is in.']],
    ['where nobody speaks for a while', 'well | then we go', ['well', 'then we go']],
    ['where another begins to speak', 'A: are you B: no I am not', ['are you', 'no I am not']],
    ['after seven seconds', 'a b c d e f g h i j k l m n o p', ['a b c d e f g h i j k l m n', 'o p']],
    ['after two lines', `${'x'.repeat(40)} ${'y'.repeat(40)} zzz`, [`${'x'.repeat(40)} ${'y'.repeat(40)}`, 'zzz']],
  ])('are cut %s', (_, text, segments) => {
    expect(cut(text)).toEqual(segments)
  })

  it('keep scripts without spaces together', () => {
    expect(segmentsOf(heard(said('我们 回家 了。 下雨 了。', ''))).map(({ text }) => text)).toEqual([
      '我们回家了。下雨了。',
    ])
    const long = said('我们今天晚上回家了。 下雨 了。', '')
    expect(segmentsOf(heard(long)).map(({ text }) => text)).toEqual(['我们今天晚上回家了。', '下雨了。'])
  })

  it('are one where no word has a time, and none where nothing was said', () => {
    expect(segmentsOf({ ...SILENCE, text: 'Hello' })).toEqual([{ start: 0, end: 3, text: 'Hello', speaker: undefined }])
    expect(segmentsOf(SILENCE)).toEqual([])
  })
})

describe('subtitles', () => {
  const cues = times([
    [0, 1.5, 'Grüße 🙂 & <b>'],
    [59.9996, 3661.042, 'one --> two\n\nthree'],
    [360_000, 360_000.5, '最后'],
  ])

  it('are written as SubRip', () => {
    expect(subRip(cues)).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nGrüße 🙂 & <b>\n\n' +
        '2\n00:01:00,000 --> 01:01:01,042\none -> two\nthree\n\n' +
        '3\n100:00:00,000 --> 100:00:00,500\n最后\n\n',
    )
  })

  it('are written as WebVTT', () => {
    expect(webVtt(cues)).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGrüße 🙂 &amp; &lt;b&gt;\n\n' +
        '00:01:00.000 --> 01:01:01.042\none -&gt; two\nthree\n\n' +
        '100:00:00.000 --> 100:00:00.500\n最后\n\n',
    )
  })
})

describe('a transcript', () => {
  const rain = heard(said('We came home. It rained.'), 4.2004)

  it('is written as json', () => {
    const { text, contentType, usage } = written(rain, {})
    expect(text).toBe('{"text":"We came home. It rained.","usage":{"type":"duration","seconds":4.2}}')
    expect(contentType).toBe('application/json')
    expect(usage).toMatchObject({ audioSeconds: 4.2, estimated: false })
    expect(written(rain, { response_format: 'json' }).text).toBe(text)
  })

  const segment = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 }
  const segments = [
    { ...segment, id: 0, start: 0, end: 1.5, text: 'We came home.' },
    { ...segment, id: 1, start: 1.5, end: 2.5, text: 'It rained.' },
  ]
  const words = [
    { word: 'We', start: 0, end: 0.5 },
    { word: 'came', start: 0.5, end: 1 },
    { word: 'home.', start: 1, end: 1.5 },
    { word: 'It', start: 1.5, end: 2 },
    { word: 'rained.', start: 2, end: 2.5 },
  ]
  const head = { task: 'transcribe', language: 'en', duration: 4.2, text: 'We came home. It rained.' }
  const usage = { type: 'duration', seconds: 4.2 }

  it.each([
    ['segments when nobody says otherwise', undefined, { segments }],
    ['words', ['word'], { words }],
    ['words, named without a list', 'word', { words }],
    ['both', ['word', 'segment'], { words, segments }],
  ])('is written as verbose_json with %s', (_, timestamp_granularities, more) => {
    const { text } = written(rain, { response_format: 'verbose_json', timestamp_granularities })
    expect(JSON.parse(text)).toEqual({ ...head, ...more, usage })
  })

  it('is written as diarized_json', () => {
    const { text } = written(heard(said('A: Are you B: No')), { response_format: 'diarized_json' })
    const type = 'transcript.text.segment'
    expect(JSON.parse(text)).toEqual({
      task: 'transcribe',
      duration: 1.5,
      text: 'Are you No',
      segments: [
        { type, id: 'seg_0', start: 0, end: 1, text: 'Are you', speaker: 'A' },
        { type, id: 'seg_1', start: 1, end: 1.5, text: 'No', speaker: 'B' },
      ],
      usage: { type: 'duration', seconds: 1.5 },
    })
  })

  it.each([
    ['text', 'We came home. It rained.\n', 'text/plain; charset=utf-8'],
    [
      'srt',
      '1\n00:00:00,000 --> 00:00:01,500\nWe came home.\n\n2\n00:00:01,500 --> 00:00:02,500\nIt rained.\n\n',
      'text/plain; charset=utf-8',
    ],
    [
      'vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nWe came home.\n\n00:00:01.500 --> 00:00:02.500\nIt rained.\n\n',
      'text/vtt; charset=utf-8',
    ],
  ] as const)('is written as %s', (response_format, text, contentType) => {
    expect(written(rain, { response_format })).toMatchObject({ text, contentType })
  })

  it.each([
    ['json', '{"text":"","usage":{"type":"duration","seconds":3}}'],
    ['text', '\n'],
    ['srt', ''],
    ['vtt', 'WEBVTT\n\n'],
  ] as const)('of silence is written as %s, and billed', (response_format, text) => {
    expect(written(SILENCE, { response_format })).toMatchObject({ text, usage: { audioSeconds: 3 } })
  })

  it('of silence has no segments, and the language that was asked for', () => {
    const { text } = written(SILENCE, { response_format: 'verbose_json', language: 'de' })
    expect(JSON.parse(text)).toMatchObject({ language: 'de', duration: 3, text: '', segments: [] })
  })

  it('of unknown length says nothing of its usage', () => {
    const { text, usage } = written({ ...SILENCE, text: 'Hi', seconds: undefined }, {})
    expect(text).toBe('{"text":"Hi"}')
    expect(usage).toBeUndefined()
  })
})
