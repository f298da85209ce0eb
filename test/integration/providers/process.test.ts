import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { startHttpProvider } from '../../emulators/http-provider-server.ts'

/** A stranger's path: a sluice.yaml, a variable, a process, HTTP. */
const MAIN = resolve(import.meta.dirname, '../../../infra/local/main.ts')
/** The members of answers this test looks at. */
interface Answer {
  readonly run_id?: string
  readonly run?: { readonly state: string }
}

const KEY = 'sk-canary-e7c2a91b'
const dir = mkdtempSync(join(tmpdir(), 'sluice-keyed-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('a place that is started with a key in a named variable uses it, tells of one that is missing, and shows none', async () => {
  const server = await startHttpProvider(({ body }) => ({ outputs: { text: `Heard: ${body.prompt}` } }), KEY)
  const provider = (env: string) => `{ type: http, url: "${server.url}", key: { env: ${env} } }`
  const lines = ['providers:', `  mine: ${provider('MY_KEY')}`, `  other: ${provider('MY_OTHER_KEY')}`]
  writeFileSync(join(dir, 'sluice.yaml'), lines.join('\n'))
  const child = spawn(process.execPath, [MAIN, '--port', '0'], {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, MY_KEY: `${KEY}\n`, SLUICE_LOG: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const { url } = JSON.parse(String(line))
    const dag = 'blocks:\n  - { id: a, outputs: { text: string }, agent: { provider: mine, model: m, prompt: Go } }\n'
    const ask = async (path: string, body?: object): Promise<Answer> => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const answer = await fetch(`${url}${path}`, body === undefined ? {} : init)
      return (await answer.json()) as Answer
    }
    const { run_id } = await ask('/api/dag/run', { dag })
    await expect.poll(async () => (await ask(`/api/dag/runs/${run_id}`)).run?.state).toBe('completed')
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`])
    expect(said).toMatch(/provider \\"other\\" cannot be asked: environment variable MY_OTHER_KEY is not set/)
    said += JSON.stringify([await ask('/api/config'), await ask('/api/agents'), await ask(`/api/dag/runs/${run_id}`)])
    expect(said).not.toContain('canary')
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
    await server.close()
  }
})
