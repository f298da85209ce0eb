import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProjectFolder, projectFolder } from './project-folder.ts'

/** Instead of the document of a new project, once that was judged: its own gate and step are loaded each time. */
const PLAIN = 'blocks: [{ id: a, outputs: { text: string }, agent: { provider: local, model: m, prompt: Say it. } }]\n'
const KEY = 'sk-a-key-nobody-may-see'
let project: ProjectFolder
let provider: Server
let seen: { readonly method?: string; readonly authorization?: string }[] = []

beforeAll(async () => {
  project = await projectFolder()
  provider = createServer((request, response) => {
    const { method = '', headers } = request
    seen.push({ method, ...(headers.authorization !== undefined && { authorization: headers.authorization }) })
    if (request.url?.startsWith('/slow') !== true) response.writeHead(401).end()
  })
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening))
})
afterAll(() => {
  provider.closeAllConnections()
  provider.close()
  project.remove()
})

function at(path: string): string {
  const address = provider.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}${path}`
}

interface Told {
  readonly ok: boolean
  readonly checks: readonly {
    readonly name: string
    readonly state: string
    readonly says: string
    readonly fix?: string
  }[]
}

/** The checks by their names. */
async function doctor(settings: object, env: Readonly<Record<string, string>> = {}, options = '') {
  writeFileSync(join(project.folder, 'sluice.yaml'), JSON.stringify(settings))
  const { code, out, err } = await project.run(`sluice doctor --json ${options}`, env)
  const told: Told = JSON.parse(out)
  return { code, ok: told.ok, said: out + err, by: new Map(told.checks.map((one) => [one.name, one])) }
}

describe('sluice doctor', () => {
  test('in a new project finds nothing wrong; a server nobody named need not be there', async () => {
    const { code, ok, by } = await doctor({ port: 4040 }, { SLUICE_URL: '' })
    expect([code, ok]).toEqual([0, true])
    expect(by.get('documents')).toMatchObject({ state: 'ok', says: '1 document, all valid' })
    expect(by.get('inputs')?.state).toBe('ok')
    expect(by.get('server')?.state).toMatch(/warning|ok/)
    writeFileSync(join(project.folder, 'dags', 'hello.yaml'), PLAIN)
    const named = await doctor({}, {}, '--url http://127.0.0.1:9')
    expect([named.code, named.by.get('server')?.state]).toEqual([100, 'failed'])
  })

  test('tells which providers can be reached and have their keys, sends no key and tells none', async () => {
    seen = []
    const openai = (path: string, key: string) => ({ type: 'openai-compatible', url: at(path), key: { env: key } })
    const { code, by, said } = await doctor(
      {
        providers: {
          good: openai('/v1', 'SOME_KEY'),
          slow: openai('/slow', 'SOME_KEY'),
          keyless: openai('/v1', 'NO_SUCH_KEY'),
          dead: { type: 'ollama', url: 'http://127.0.0.1:1' },
          again: { type: 'replay', record: 'no-such-file.json' },
          cloud: { type: 'bedrock' },
        },
      },
      { SOME_KEY: KEY },
    )
    expect(code).toBe(100)
    const states = ['good', 'slow', 'keyless', 'dead', 'again', 'cloud'].map(
      (name) => by.get(`provider ${name}`)?.state,
    )
    expect(states).toEqual(['ok', 'failed', 'failed', 'failed', 'failed', 'skipped'])
    expect(by.get('provider good')?.says).toMatch(/answers \(401\), SOME_KEY is set$/)
    expect(by.get('provider slow')?.says).toMatch(/nothing within 2 s$/)
    expect(by.get('provider keyless')?.fix).toContain('NO_SUCH_KEY')
    expect(seen).toEqual([{ method: 'HEAD' }, { method: 'HEAD' }])
    expect(said).not.toContain(KEY)
  })

  test('says which way requests leave, whether the proxy answers and takes the credentials, and asks providers by it', async () => {
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', ({ url = '', headers }, socket) => {
      asked.push(url)
      const isLetIn = headers['proxy-authorization'] === `Basic ${Buffer.from('ana:secret').toString('base64')}`
      socket.end(`HTTP/1.1 ${isLetIn ? '502 Bad Gateway' : '407 Proxy Authentication Required'}\r\n\r\n`)
    })
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
    const { port } = proxy.address() as AddressInfo
    const named = { proxy: `http://127.0.0.1:${port}`, credentials: { env: 'PROXY_AUTH' } }
    const providers = { far: { type: 'openai-compatible', url: 'https://models.example.com/v1' } }
    const told = async (egress: object, env: Readonly<Record<string, string>> = {}, more: object = {}) => {
      const { by, said } = await doctor({ egress, ...more }, env)
      expect(said).not.toContain('secret')
      return by.get('egress')
    }
    try {
      expect(await told({})).toMatchObject({ state: 'skipped', says: 'requests leave straight, to any public host' })
      expect(await told({ hosts: ['a.example'] })).toMatchObject({
        state: 'ok',
        says: expect.stringContaining('"a.example"'),
      })
      const hosts = ['*.example.com']
      expect(await told({ ...named, hosts }, { PROXY_AUTH: 'ana:secret' }, { providers })).toMatchObject({
        state: 'ok',
        says: `by http://127.0.0.1:${port}, which answers, to hosts of egress.hosts: "*.example.com"`,
      })
      // The check of the provider went through it too.
      expect(asked).toEqual(['sluice.invalid:443', 'models.example.com:443'])
      expect(await told(named, { PROXY_AUTH: 'ana:other' })).toMatchObject({
        state: 'failed',
        says: expect.stringMatching(/\(407\)$/),
      })
      expect(await told(named)).toMatchObject({ state: 'failed', says: expect.stringContaining('PROXY_AUTH') })
      expect(await told({ proxy: 'http://127.0.0.1:1' })).toMatchObject({
        state: 'failed',
        says: expect.stringContaining('ECONNREFUSED'),
      })
      const none = { HTTPS_PROXY: '', https_proxy: '' }
      expect(await told({ proxy: 'environment' }, none)).toMatchObject({ state: 'warning' })
    } finally {
      proxy.close()
    }
  })

  test('tells a document with errors and a data folder that is a file', async () => {
    writeFileSync(join(project.folder, 'dags', 'wrong.yaml'), 'blocks: []')
    writeFileSync(join(project.folder, 'a-file'), '')
    const { code, by } = await doctor({ data_dir: 'a-file' })
    expect(code).toBe(100)
    expect(by.get('documents')).toMatchObject({ state: 'failed', says: expect.stringContaining('dags/wrong.yaml') })
    expect(by.get('data folder')).toMatchObject({ state: 'failed', says: 'a-file is a file' })
  })

  test.skipIf(process.getuid?.() === 0)('tells a data folder nobody can write to', async () => {
    mkdirSync(join(project.folder, 'locked'))
    chmodSync(join(project.folder, 'locked'), 0o500)
    const { by } = await doctor({ data_dir: 'locked' })
    expect(by.get('data folder')).toMatchObject({ state: 'failed', says: expect.stringContaining('cannot be written') })
  })

  test('every failure and warning says what to do, one thing a line for people', async () => {
    writeFileSync(join(project.folder, 'sluice.yaml'), 'nonsense: 1')
    const { code, out } = await project.run('sluice doctor')
    expect(code).toBe(100)
    const lines = out.trimEnd().split('\n')
    const bad = lines.filter((line) => /^(FAILED|warning) /.test(line))
    expect(bad.length).toBeGreaterThan(0)
    for (const line of bad) expect(lines[lines.indexOf(line) + 1]).toMatch(/^ +fix: /)
  })
})
