import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { builtConsole } from '../../../../src/runtimes/node/http/assets.node.ts'
import { withGateway } from '../../../support/with-gateway.ts'

const gateway = withGateway(() => 'model_list: []\n')

it('answers the files that Workers answers without the worker', async () => {
  const robots = await gateway.fetch('/robots.txt', { headers: { authorization: '' } })
  expect([robots.status, await robots.text()]).toEqual([200, 'User-agent: *\nDisallow: /\n'])
  const icon = await gateway.fetch('/favicon.svg')
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  const page = await (await gateway.fetch('/docs')).text()
  const files = [...page.matchAll(/(?:src|href)="(\/\w+\.(?:css|js|svg))"/g)].map(([, path]) => String(path)).sort()
  expect(files).toEqual(['/docs.css', '/docs.js', '/favicon.svg'])
  const types = await Promise.all(files.map(async (file) => (await gateway.fetch(file)).headers.get('content-type')))
  expect(types).toEqual(['text/css; charset=utf-8', 'text/javascript; charset=utf-8', 'image/svg+xml'])
  expect((await gateway.fetch('/favicon.svg', { method: 'HEAD' })).status).toBe(200)
  expect((await gateway.fetch('/favicon.svg?v=2')).headers.get('content-type')).toBe('image/svg+xml')
})

it.each(['/..%2fpackage.json', '/../package.json', '/robots.txt/', '/%72obots.txt'])(
  'answers nothing else: %s',
  async (path) => {
    expect((await gateway.fetch(path)).status).toBe(404)
  },
)

describe('a console that is built anew under a running gateway', () => {
  const place = () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-console-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const at = join(folder, 'console')
    let builds = 0
    return {
      url: pathToFileURL(`${at}/`),
      /** As the build does: whole beside it, and moved in its place. */
      build(name: string) {
        const fresh = `${at}-fresh`
        mkdirSync(join(fresh, 'files/assets'), { recursive: true })
        writeFileSync(join(fresh, `files/assets/${name}.js`), `'${name}'`)
        writeFileSync(join(fresh, `files/assets/${name}-later.js`), `'${name}, later'`)
        writeFileSync(join(fresh, 'shell.html'), `<script src="/assets/${name}.js"></script>`)
        utimesSync(join(fresh, 'shell.html'), ++builds, builds)
        rmSync(at, { recursive: true, force: true })
        renameSync(fresh, at)
      },
      remove: () => rmSync(at, { recursive: true }),
    }
  }
  const get = (served: ReturnType<typeof builtConsole>, url: string) => {
    const { status, body } = served.asset({ method: 'GET', url, headers: {} }) ?? {}
    return [status, body && new TextDecoder().decode(body as Uint8Array)]
  }

  it('is the new one, and has nothing that only the old one had but what its page begins with', () => {
    const { url, build } = place()
    build('old')
    const served = builtConsole(url)
    expect(served.shell()).toBe('<script src="/assets/old.js"></script>')
    build('new')
    expect(get(served, '/assets/old.js')).toEqual([200, "'old'"])
    expect(get(served, '/assets/old-later.js')).toEqual([undefined, undefined])
    expect(get(served, '/assets/new-later.js')).toEqual([200, "'new, later'"])
    expect(served.shell()).toBe('<script src="/assets/new.js"></script>')
    build('newest')
    expect(get(served, '/assets/newest.js')).toEqual([200, "'newest'"])
    expect(get(served, '/assets/new.js')).toEqual([200, "'new'"])
    expect(get(served, '/assets/old.js')).toEqual([undefined, undefined])
  })

  it('is the last one that was there while there is none, without what was never read of it', () => {
    const { url, build, remove } = place()
    build('old')
    const served = builtConsole(url)
    served.shell()
    remove()
    expect([served.shell(), get(served, '/assets/old.js'), get(served, '/assets/old-later.js')]).toEqual([
      '<script src="/assets/old.js"></script>',
      [200, "'old'"],
      [undefined, undefined],
    ])
    build('new')
    expect(get(served, '/assets/new.js')).toEqual([200, "'new'"])
  })

  it('comes where there was none', () => {
    const { url, build } = place()
    const served = builtConsole(url)
    expect(served.shell()).toBeUndefined()
    build('first')
    expect(served.shell()).toBe('<script src="/assets/first.js"></script>')
  })
})
