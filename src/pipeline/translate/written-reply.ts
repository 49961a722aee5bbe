import { joinBytes } from '../../lib/bytes/bytes.ts'
import type { ChatChunk } from '../../modes/chat-completion.ts'
import type { Outgoing, Reply, StreamReader, StreamStep } from '../../providers/provider.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'
import type { Dialect, DialectStream } from './dialect.ts'
import { identified, identifying } from './identified.ts'
import { unstreamed, wholeStream, writtenAtOnce } from './whole-as-stream.ts'

const encoder = new TextEncoder()

/** A whole answer in the client's dialect. */
export type WrittenReply = Reply & { readonly bytes: Uint8Array; readonly contentType: string }

/** Reads a stream of the upstream; its steps have their bytes in the client's dialect. */
export type WrittenReader = StreamReader &
  Required<Pick<StreamReader, 'closing'>> & {
    /** Writes one more chunk of the same answer, from the deployment that continues it. */
    write?(chunk: ChatChunk): Uint8Array
    readonly repeats?: DialectStream['repeats']
  }

export type OnChunk = (chunk: ChatChunk) => void

/** A whole completion as a single step of a stream. */
export function atOnce(reply: Reply, dialectStream: DialectStream): StreamStep {
  const { completion } = asCompletion(reply)
  if (!completion) throw unstreamed()
  return wholeStream(writtenAtOnce(identified(completion), dialectStream), reply)
}

/** A whole answer, written in the client's dialect unless its bytes are in it already. */
export function written(reply: Reply, dialect: Dialect, { body, facts }: Outgoing): WrittenReply {
  if (reply.bytes) return reply
  const { completion, usage, outputCharacters } = reply
  const bytes = encoder.encode(JSON.stringify(dialect.fromChat(identified(completion), body, facts)))
  return { bytes, contentType: 'application/json', usage, outputCharacters }
}

/** Writes a vendor's chunks in the client's dialect; a vendor's bytes of the same dialect pass unchanged. */
export function writing(reader: StreamReader, dialectStream: DialectStream, onChunk?: OnChunk): WrittenReader {
  const { fail, repeats } = dialectStream
  let translating = false
  let finished = false
  const withIdentity = identifying()
  const asWritten = ({ chunk, ...rest }: StreamStep): StreamStep => {
    translating ||= chunk !== undefined
    const out = [
      ...(chunk ? [dialectStream.write(withIdentity(chunk))] : []),
      ...(rest.done && translating && finished ? [dialectStream.close()] : []),
    ]
    return { ...rest, out: joinBytes(out) }
  }
  return {
    push(piece) {
      const steps = reader.push(piece)
      for (const [index, step] of steps.entries()) {
        if (onChunk) report(onChunk, step)
        finished ||= step.finished === true
        if (step.chunk || (step.done && translating)) steps[index] = asWritten(step)
      }
      return steps
    },
    write(chunk) {
      translating = true
      return dialectStream.write(withIdentity(chunk))
    },
    closing: () => (translating || !reader.closing ? dialectStream.close() : reader.closing()),
    ...(fail ? { failing: fail } : {}),
    ...(repeats ? { repeats } : {}),
  }
}

function report(onChunk: OnChunk, step: StreamStep): void {
  const chunks = step.chunk || !step.out ? [step] : asChunks(step)
  for (const { chunk } of chunks) if (chunk) onChunk(chunk)
}
