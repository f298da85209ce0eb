import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sluice, startSluice } from '../../e2e/run-cli.ts'
import { openReceiver, type WebhookReceiver } from '../../emulators/webhook-receiver.ts'
import { BRIEF, SECRET } from './webhook-place.ts'

/** The commands, as processes, against a place that is one too. */
let folder: string
let hook: WebhookReceiver
let url: string
let server: Awaited<ReturnType<typeof startSluice>>

const run = (...args: readonly string[]) => sluice(args, { cwd: folder, env: { SLUICE_URL: url } })
const startServer = () => startSluice(['start', '--port', '0', '--json'], folder, 'keep')
/** The place itself, not the command that started it. */
const kill = () => process.kill(Number(server.first.pid), 'SIGKILL')

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-hooks-'))
  hook = await openReceiver([SECRET])
  const webhooks = [
    { name: 'billing', url: hook.url, events: ['run:completed'], key: { env: 'HOOK' }, timeout_ms: 1_000 },
    { name: 'mute', url: hook.url, events: 'all', dags: ['other'], key: { env: 'NO_SUCH' } },
  ]
  const http_gates = { ports: [hook.port], loopback: true }
  mkdirSync(join(folder, 'dags'))
  writeFileSync(join(folder, 'dags', 'brief.yaml'), JSON.stringify(BRIEF))
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ webhooks, http_gates }))
  vi.stubEnv('HOOK', SECRET)
  server = await startServer()
  url = String(server.first.url)
}, 60_000)

afterAll(async () => {
  await server.stop('SIGTERM')
  await hook.close()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

describe('sluice webhooks', () => {
  test('list shows name, host and events, and no path', async () => {
    const { code, out } = await run('webhooks', 'list')
    expect(code).toBe(0)
    expect(out).toBe(
      `billing  127.0.0.1:${hook.port}  run:completed\nmute  127.0.0.1:${hook.port}  all events of other\n`,
    )
  })

  test('test sends a signed message, and says why one was not taken', async () => {
    const good = await run('webhooks', 'test', 'billing')
    expect(good).toMatchObject({ code: 0, out: expect.stringMatching(/^billing took it \(204\)\. Message: test_/) })
    expect(hook.received.at(-1)).toMatchObject({ signed_by: [0], body: { type: 'webhook:test' } })
    const mute = await run('webhooks', 'test', 'mute', '--json')
    expect(mute.code).toBe(1)
    expect(JSON.parse(mute.out)).toMatchObject({ delivered: false, reason: expect.stringContaining('no key') })
    expect((await run('webhooks', 'test', 'none')).err).toContain('there are: billing, mute')
  })

  test('tells of a run over a kill -9 of the place, with the same message', {
    tags: ['thorough'],
    timeout: 90_000,
  }, async () => {
    const before = hook.received.length
    // It takes the message; the process dies before it hears of that.
    hook.react(() => void setTimeout(kill, 500), 204)
    const started = await run('run', 'start', 'brief', '--input', 'text=x', '--json')
    const run_id = String(JSON.parse(started.out).run_id)
    await expect.poll(() => hook.received.length).toBe(before + 1)
    await server.ended
    server = await startServer()
    url = String(server.first.url)
    const mine = () => hook.received.filter(({ body }) => body.run_id === run_id)
    await expect.poll(() => mine().length, { timeout: 60_000 }).toBe(2)
    const [first, second] = mine()
    expect([second?.id, second?.text]).toEqual([first?.id, first?.text])
  })

  test('dead and replay say so when there is nothing; replay wants to know what', async () => {
    expect(await run('webhooks', 'dead')).toMatchObject({ code: 0, out: 'Every message was taken.\n' })
    expect(await run('webhooks', 'replay', '--all')).toMatchObject({ code: 0 })
    expect(await run('webhooks', 'replay')).toMatchObject({ code: 2, err: expect.stringContaining('--all') })
    expect(await run('webhooks', 'replay', 'x')).toMatchObject({
      code: 1,
      err: expect.stringContaining('webhooks dead'),
    })
  })
})
