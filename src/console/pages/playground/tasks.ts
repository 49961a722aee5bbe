import type { Endpoint } from './call.ts'
import { jsonOf } from './call.ts'
import type { Mode } from './model-field.tsx'

export type TaskId =
  | 'embeddings'
  | 'image'
  | 'image-edit'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'rerank'
  | 'moderation'
export type Given = Readonly<Record<string, string | number | null>>

export interface TaskField {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'lines' | 'number' | 'choice'
  readonly hint?: string
  readonly choices?: readonly string[]
  /** What is there at first, as an example to send. */
  readonly example?: string
  readonly placeholder?: string
}

/** A file that a call needs. */
export interface TaskFile {
  /** Of the part of the form that it is sent as. */
  readonly name: string
  readonly label: string
  readonly accept: string
  readonly missing: string
  /** What code calls it. */
  readonly example: string
}

const RECORDING: TaskFile = {
  name: 'file',
  label: 'Recording',
  accept: 'audio/*,video/mp4,video/webm',
  missing: 'Choose a recording first.',
  example: 'audio.mp3',
}

/** One call with one result. */
export interface Task {
  readonly id: TaskId
  readonly label: string
  readonly endpoint: Endpoint
  readonly mode: Mode
  readonly run: string
  readonly file?: TaskFile
  readonly fields: readonly TaskField[]
  body(given: Given): Readonly<Record<string, unknown>>
}

const lines = (text: string | number | null | undefined) =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** What is left empty is not sent. */
const filled = (given: Given, ...names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (given[name] === null || given[name] === '' ? [] : [[name, given[name]]])))

const TEXT_FORMATS = ['json', 'verbose_json', 'text', 'srt', 'vtt']

export const TASKS: readonly Task[] = [
  {
    id: 'embeddings',
    label: 'Embeddings',
    endpoint: 'embeddings',
    mode: 'embedding',
    run: 'Embed',
    fields: [
      {
        name: 'input',
        label: 'Texts',
        kind: 'lines',
        hint: 'One a line. Two or more are compared.',
        example: 'The cat sleeps on the sofa.\nA kitten naps on the couch.\nThe invoice is due on Friday.',
      },
      { name: 'dimensions', label: 'Dimensions', kind: 'number', placeholder: "the model's own" },
    ],
    body: (given) => ({ input: lines(given.input), ...filled(given, 'dimensions') }),
  },
  {
    id: 'image',
    label: 'Image',
    endpoint: 'images/generations',
    mode: 'image_generation',
    run: 'Make the image',
    fields: [
      {
        name: 'prompt',
        label: 'What to show',
        kind: 'lines',
        example: 'A lighthouse in fog, woodcut, two colours.',
      },
      { name: 'size', label: 'Size', kind: 'text', placeholder: '1024x1024' },
      { name: 'n', label: 'How many', kind: 'number', placeholder: '1' },
    ],
    body: (given) => ({ prompt: given.prompt, ...filled(given, 'size', 'n') }),
  },
  {
    id: 'image-edit',
    label: 'Image edit',
    endpoint: 'images/edits',
    mode: 'image_generation',
    run: 'Change the image',
    file: {
      name: 'image',
      label: 'Picture',
      accept: 'image/*',
      missing: 'Choose a picture first.',
      example: 'picture.png',
    },
    fields: [
      { name: 'prompt', label: 'What to change', kind: 'lines', example: 'The same at night, with the lamp lit.' },
      { name: 'size', label: 'Size', kind: 'text', placeholder: '1024x1024' },
      { name: 'n', label: 'How many', kind: 'number', placeholder: '1' },
    ],
    body: (given) => ({ prompt: given.prompt, ...filled(given, 'size', 'n') }),
  },
  {
    id: 'speech',
    label: 'Speech',
    endpoint: 'audio/speech',
    mode: 'audio_speech',
    run: 'Speak',
    fields: [
      { name: 'input', label: 'What to say', kind: 'lines', example: 'The train to Basel leaves from platform eight.' },
      { name: 'voice', label: 'Voice', kind: 'text', example: 'alloy', hint: 'A voice of the model.' },
      { name: 'response_format', label: 'Format', kind: 'choice', choices: ['mp3', 'wav', 'opus', 'aac', 'flac'] },
    ],
    body: (given) => ({ input: given.input, ...filled(given, 'voice', 'response_format') }),
  },
  {
    id: 'transcription',
    label: 'Transcription',
    endpoint: 'audio/transcriptions',
    mode: 'audio_transcription',
    run: 'Transcribe',
    file: RECORDING,
    fields: [
      { name: 'language', label: 'Language', kind: 'text', placeholder: 'found out by the model' },
      { name: 'prompt', label: 'Words that occur', kind: 'text', hint: 'Names and terms that the model may mishear.' },
      { name: 'response_format', label: 'Format', kind: 'choice', choices: TEXT_FORMATS },
    ],
    body: (given) => filled(given, 'language', 'prompt', 'response_format'),
  },
  {
    id: 'translation',
    label: 'Translation',
    endpoint: 'audio/translations',
    mode: 'audio_transcription',
    run: 'Translate into English',
    file: RECORDING,
    fields: [
      { name: 'prompt', label: 'Words that occur', kind: 'text', hint: 'In English.' },
      { name: 'response_format', label: 'Format', kind: 'choice', choices: TEXT_FORMATS },
    ],
    body: (given) => filled(given, 'prompt', 'response_format'),
  },
  {
    id: 'rerank',
    label: 'Rerank',
    endpoint: 'rerank',
    mode: 'rerank',
    run: 'Rerank',
    fields: [
      { name: 'query', label: 'Query', kind: 'text', example: 'How do I reset my password?' },
      {
        name: 'documents',
        label: 'Documents',
        kind: 'lines',
        hint: 'One a line.',
        example:
          'Opening hours are nine to five.\nA forgotten password is reset from the page of sign-in.\nInvoices are sent on the first of the month.',
      },
      { name: 'top_n', label: 'How many', kind: 'number', placeholder: 'all' },
    ],
    body: (given) => ({ query: given.query, documents: lines(given.documents), ...filled(given, 'top_n') }),
  },
  {
    id: 'moderation',
    label: 'Moderation',
    endpoint: 'moderations',
    mode: 'moderation',
    run: 'Judge',
    fields: [{ name: 'input', label: 'Text', kind: 'lines', example: 'I will find you, and you will regret it.' }],
    body: (given) => ({ input: given.input }),
  },
]

export const bodyOf = (task: Task, given: Given): Readonly<Record<string, unknown>> => ({
  ...task.body(given),
  ...(jsonOf(String(given.more ?? ''), 'more', 'object') as object | undefined),
})
