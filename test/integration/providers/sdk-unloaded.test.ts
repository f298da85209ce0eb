import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { startBedrock } from '../../emulators/bedrock-server.ts'
import { startOpenai } from '../../emulators/openai-server.ts'

/** What a local place loads, by the resolver of its own process: the AWS SDK only once Bedrock is asked. */
const MAIN = resolve(import.meta.dirname, '../../../infra/local/main.ts')
const dir = mkdtempSync(join(tmpdir(), 'sluice-unloaded-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const HOOK = `
import { registerHooks } from 'node:module'
import { appendFileSync } from 'node:fs'
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    if (/@(aws|ai)-sdk/.test(resolved.url)) appendFileSync(process.env.LOADED, resolved.url + '\\n')
    return resolved
  },
})
`

/** What one place has loaded after each of these providers was asked. */
async function loadedBy(providers: readonly string[]) {
  const loaded = join(dir, 'loaded.txt')
  writeFileSync(loaded, '')
  writeFileSync(join(dir, 'hook.mjs'), HOOK)
  const child = spawn(process.execPath, ['--import', join(dir, 'hook.mjs'), MAIN, '--port', '0'], {
    cwd: dir,
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      LOADED: loaded,
      AWS_ACCESS_KEY_ID: 'AKIAEMULATED',
      AWS_SECRET_ACCESS_KEY: 'x',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const { url } = JSON.parse(String(line))
    const ask = async (path: string, body?: object): Promise<Answer> => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await fetch(`${url}${path}`, body === undefined ? {} : init)).json()) as Answer
    }
    const told: { readonly loaded: string; readonly state: string }[] = []
    for (const provider of providers) {
      const agent = { provider, model: 'amazon.nova-lite-v1:0', prompt: 'Say three words.' }
      const { run_id } = await ask('/api/dag/run', {
        dag: { blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] },
      })
      const state = async () => (await ask(`/api/dag/runs/${run_id}`)).run?.state ?? ''
      await expect.poll(state).not.toBe('running')
      told.push({ loaded: readFileSync(loaded, 'utf8'), state: await state() })
    }
    return told
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** The members of answers this test looks at. */
interface Answer {
  readonly run_id?: string
  readonly run?: { readonly state: string }
}

test('a place that names a provider of type bedrock loads the AWS SDK when a block asks it, and not before', {
  tags: ['thorough'],
}, async () => {
  const server = await startBedrock(() => 'Three words, said.')
  const settings = `providers:\n  models: { type: bedrock, region: us-east-1, endpoint: "${server.url}" }\n`
  writeFileSync(join(dir, 'sluice.yaml'), settings)
  try {
    const [before, after] = await loadedBy(['local', 'models'])
    expect(before).toEqual({ loaded: '', state: 'completed' })
    expect([after?.state, server.asked.length]).toEqual(['completed', 1])
    expect(after?.loaded).toContain('@aws-sdk/client-bedrock-runtime')
  } finally {
    await server.close()
  }
})

test('a place that names a server of chat completions loads its package when a block asks it, and no other', {
  tags: ['thorough'],
}, async () => {
  const server = await startOpenai(() => 'Three words, said.')
  const settings = `providers:\n  models: { type: openai-compatible, url: "${server.url}" }\n  other: { type: anthropic }\n`
  writeFileSync(join(dir, 'sluice.yaml'), settings)
  try {
    const [before, after] = await loadedBy(['local', 'models'])
    expect(before).toEqual({ loaded: '', state: 'completed' })
    expect([after?.state, server.asked.length]).toEqual(['completed', 1])
    expect(after?.loaded).toContain('@ai-sdk/openai-compatible')
    expect(after?.loaded).not.toMatch(/@ai-sdk\/anthropic|@aws-sdk/)
  } finally {
    await server.close()
  }
})
