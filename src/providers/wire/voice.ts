import type { SpeechRequest } from '../../modes/audio-speech.ts'

/** The voice that a request names, else the deployment's default. */
export function voiceOf({ voice }: SpeechRequest, defaults: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof voice === 'string') return voice
  if (voice) return voice.id
  return typeof defaults.voice_id === 'string' && defaults.voice_id !== '' ? defaults.voice_id : undefined
}
