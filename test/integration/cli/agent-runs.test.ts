import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Started, sluice, startSluice } from '../../e2e/run-cli.ts'
import type { ProviderServer } from '../../emulators/provider-server.ts'
import { calls, startScriptedModel } from '../../emulators/scripted-model.ts'

/** What people see of an agent on the command line, and how they answer it there. */
const dir = mkdtempSync(join(tmpdir(), 'sluice-agent-runs-'))
let server: Started
let model: ProviderServer

const ACTING = `
name: acting
blocks:
  - id: act
    outputs: { answer: string }
    agent:
      provider: model
      model: m
      prompt: Write.
      tools:
        - use: artifact.write
          approval: { when: "args.name != 'free.md'", prompt: "Write {{args.name}}?", edit: [text], allow_rest: true }
`

beforeAll(async () => {
  model = await startScriptedModel(({ turn }) => {
    const write = (name: string) => ({ tool: 'artifact__write', arguments: { name, text: 'First.' } })
    if (turn === 0) return { ...calls(write('free.md'), write('one.md'), write('two.md')), text: 'I write.' }
    return 'Done.'
  })
  mkdirSync(join(dir, 'dags'))
  writeFileSync(join(dir, 'dags', 'acting.yaml'), ACTING)
  const providers = `providers: { model: { type: openai-compatible, url: "${model.url}" } }`
  writeFileSync(join(dir, 'sluice.yaml'), `dags: [dags]\n${providers}\n`)
  server = await startSluice(['start', '--port', '0', '--json'], dir)
})
afterAll(async () => {
  await server.stop('SIGTERM')
  await model.close()
  rmSync(dir, { recursive: true, force: true })
})

async function run(...args: readonly string[]) {
  return sluice(args, { cwd: dir, env: { SLUICE_URL: String(server.first.url) } })
}

test('an agent is read a line a call, its calls are named, chosen and answered, and its transcript is text', async () => {
  const { out: begun } = await run('run', 'start', 'acting', '--json')
  const id = /run_[0-9a-z]{26}/.exec(begun)?.[0] ?? ''
  let status = ''
  const questionOf = (call: number) => new RegExp(`--approval (apr_\\w+_i${call}a1)`).exec(status)?.[1] ?? ''
  // The two ask while the first is still made, and the lines come of several reads: all agree in the end.
  const lines = [
    /act +running +1 turn, 3 calls \(2 wait for a person\)/,
    /✓ 1\.1 artifact\.write \{"name":"free\.md","text":"First\."\} completed \(\d+ ms\) → /,
    /\? 1\.2 artifact\.write .* waits for a person/,
    /Call 2 of turn 1 \(artifact\.write\) of block act waits for approval/,
    /--approval apr_\w+_i3a1/,
  ]
  await vi.waitFor(
    async () => {
      status = (await run('run', 'status', id)).out
      for (const line of lines) expect(status).toMatch(line)
    },
    { timeout: 60_000, interval: 100 },
  )
  const [second, third] = [questionOf(2), questionOf(3)]
  expect((await run('run', 'approve', id, '--yes')).err).toContain('2 are pending')

  const inbox = (await run('approvals', 'list')).out
  expect(inbox).toMatch(/acting\/act call 2 of turn 1 \(artifact\.write\)/)
  const shown = (await run('approvals', 'show', second)).out
  expect(shown).toContain('Call 2 of turn 1 (artifact.write) of block act asks: Write one.md?')
  expect(shown).toContain('text (string)')

  const approved = await run('run', 'approve', id, '--approval', second, '--edit', 'text=Better.', '--yes')
  expect(approved.out).toContain('Approved block act')
  await run('run', 'reject', id, '--approval', third, '--feedback', 'not this one', '--yes')
  const watched = (await run('run', 'watch', id)).out
  expect(watched).toMatch(/act: ✓ 1\.2 artifact\.write .*completed/)
  expect(watched).toMatch(/act turn 2: model m gave turn/)
  expect(watched).not.toMatch(/act\[\d+\]/)

  const { out } = await run('run', 'transcript', id, 'act')
  expect(out).toContain('--- turn 1: model m')
  expect(out).toContain('  I write.')
  expect(out).toMatch(/asked a person: approved by \S+ with \{"text":"Better\."\}/)
  expect(out).toMatch(/✗ 1\.3 artifact\.write .*refused.*not this one/)
  expect(out).toContain('--- turn 2: model m')
  const later = JSON.parse((await run('run', 'transcript', id, 'act', '--from-turn', '2', '--json')).out)
  expect(later.turns).toMatchObject([{ turn: 2, text: 'Done.' }])
  const events = (await run('run', 'events', id, '--since', '6')).out
  expect(events).toContain('act call 1 of turn 1 (artifact.write): ')
})
