import { expect, it } from 'vitest'
import { footprints } from '../../../src/lib/footprints.ts'
import type { Scratch } from '../../../src/lib/forms/spool.ts'
import { audioTranscription } from '../../../src/modes/audio-transcription.ts'
import { asMode } from '../../../src/modes/mode.ts'
import { incomingForm } from '../../../src/pipeline/request/incoming-form.ts'

const MIB = 1024 * 1024

/** A form of 24 MiB whose model stands behind its file, as SDKs write it that keep the order of the caller's fields. */
function uploaded() {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n'
  const tail = '\r\n--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n'
  const pieces = [Buffer.from(head), ...Array.from({ length: 24 }, () => new Uint8Array(MIB)), Buffer.from(tail)]
  return { length: undefined, read: async () => pieces.shift(), close: () => {} }
}

/** Storage that has room for so many bytes. */
const roomFor = (bytes: number) => async (): Promise<Scratch> => {
  let left = bytes
  return {
    async append(piece) {
      left -= piece.byteLength
      if (left < 0) throw new Error('no space left on device')
    },
    read: async () => new Uint8Array(1),
    close: () => {},
  }
}

it.each([
  ['storage for all of it', { scratch: roomFor(100 * MIB) }, 4],
  ['no storage', {}, 24],
  ['a folder that cannot be written to', { scratch: () => Promise.reject(new Error('read-only')) }, 24],
  ['a disk that becomes full', { scratch: roomFor(8 * MIB) }, 16],
])('a form of which nothing is read yet counts with all that is in memory: %s', async (_, storage, counted) => {
  const all = footprints({ total: 100 * MIB, owner: 100 * MIB }, Date.now)
  const form = incomingForm(
    { upload: uploaded, ...storage },
    asMode(audioTranscription),
    'multipart/form-data; boundary=x',
    {
      limitBytes: 100 * MIB,
      footprint: all.open('key'),
    },
  )
  expect(await form.head()).toMatchObject({ request: { model: 'm' } })
  expect(Math.floor(all.total / MIB)).toBe(counted)
  form.raw.close()
})
