import { describe, expect, it } from 'vitest'
import { asAbortSignal, newAbort } from '../../src/lib/abort.ts'

describe('an abort', () => {
  it('tells who listens once, with the first reason, and who has stopped listening nothing', () => {
    const abort = newAbort<string>()
    const heard: unknown[] = []
    const gone = () => heard.push('gone')
    abort.addEventListener('abort', () => heard.push(`first: ${abort.reason}`))
    abort.addEventListener('abort', gone)
    abort.addEventListener('abort', () => heard.push('last'))
    abort.removeEventListener('abort', gone)
    expect(abort.aborted).toBe(false)
    abort.abort('because')
    abort.abort('again')
    expect(heard).toEqual(['first: because', 'last'])
    expect({ aborted: abort.aborted, reason: abort.reason }).toEqual({ aborted: true, reason: 'because' })
  })

  it('lets a listener that is told stop the others', () => {
    const abort = newAbort()
    const heard: string[] = []
    const second = () => heard.push('second')
    abort.addEventListener('abort', () => abort.removeEventListener('abort', second))
    abort.addEventListener('abort', second)
    abort.abort()
    expect(heard).toEqual([])
  })

  it('is a signal for the platform, before and after', () => {
    const abort = newAbort<Error>()
    const before = asAbortSignal(abort)
    expect(before.aborted).toBe(false)
    const why = new Error('why')
    abort.abort(why)
    expect(before.reason).toBe(why)
    expect(asAbortSignal(abort).reason).toBe(why)
    expect(asAbortSignal(before)).toBe(before)
  })
})
