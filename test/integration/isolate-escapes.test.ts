import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../functions/isolate/isolate-child.ts'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { createTurns } from '../../functions/isolate/tenant-turns.ts'
import type { Isolated } from '../../shared/ports/isolate.ts'

const FOREVER = '($f := function($x) { $f($x) }; $f(1))'

describe('code in a child, were there a way to run it', () => {
  // Schemas are compiled to code, so this kind of child may make code from text.
  const child = startChild('schema', 64, new URL('./escaping-worker.ts', import.meta.url))
  let server: Server
  let folder = ''
  let connections = 0
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-escape-'))
    writeFileSync(join(folder, 'secret'), 'secret')
    server = createServer((socket) => {
      connections += 1
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    expect(await child.started).toBeUndefined()
  })
  afterAll(async () => {
    child.end()
    rmSync(folder, { recursive: true })
    await new Promise((resolve) => server.close(resolve))
  })

  const facts = () => ({ port: (server.address() as AddressInfo).port, file: join(folder, 'secret') })
  test.each([
    "return (await fetch('http://127.0.0.1:' + input.port)).status",
    "return new WebSocket('ws://127.0.0.1:' + input.port).url",
    "return typeof (await import('node:net')).connect",
    "return typeof (await import('node:dns')).lookup",
    "return typeof (await import('net')).connect",
    "return typeof (await import('undici')).fetch",
    "return typeof process.getBuiltinModule('net').connect",
    "return typeof process.binding('tcp_wrap').TCP",
    "return typeof process._linkedBinding('tcp_wrap')",
    "return typeof process.mainModule.require('net')",
    "return typeof require('net')",
    "return (await import('node:fs')).readFileSync(input.file, 'utf8')",
    "return (await import('node:child_process')).execSync('id')",
    "return typeof new (await import('node:worker_threads')).Worker('1', { eval: true })",
    'process.dlopen({ exports: {} }, input.file); return 1',
    'return Object.keys(process.env).length > 0 ? 1 : (() => { throw new Error("empty") })()',
  ])('does not get by with %s', async (program) => {
    const answer = await child.run({ kind: 'transform', program, input: facts() }, 60_000)
    expect(answer).toEqual({ ok: true, value: expect.stringMatching(/^refused: /) })
    expect(connections).toBe(0)
  })

  test('is code that runs, and sees what it is given', async () => {
    const answer = await child.run({ kind: 'transform', program: 'return input.a + 1', input: { a: 1 } }, 60_000)
    expect(answer).toEqual({ ok: true, value: 'reached 2' })
  })

  test('and would, without that: the check itself can see a connection', async () => {
    const { connect } = await import('node:net')
    await new Promise((resolve) => connect(facts().port, '127.0.0.1', () => resolve(undefined)))
    await expect.poll(() => connections).toBe(1)
  })
})

test('the children themselves read nothing but their program', async () => {
  const child = startChild('transform', 64)
  expect(await child.started).toBeUndefined()
  expect(await child.run({ kind: 'transform', program: '6 * 7', input: {} }, 60_000)).toEqual({ ok: true, value: 42 })
  child.end()
})

describe('turns', () => {
  test('go round the tenants: one with many waits for one of each other, not for all of theirs', async () => {
    const turns = createTurns(1)
    const order: string[] = []
    const job = async (tenant: string, name: string) => {
      await turns.take({ tenant })
      order.push(name)
      // Whoever asked meanwhile is in line.
      await new Promise((resolve) => setImmediate(resolve))
      turns.give(tenant)
    }
    const many = Array.from({ length: 60 }, (_, i) => job('a', `a${i}`))
    await Promise.all([...many, job('b', 'b0'), job('c', 'c0'), job('b', 'b1')])
    expect(order).toHaveLength(63)
    expect(order.indexOf('b0')).toBeLessThanOrEqual(3)
    expect(order.indexOf('c0')).toBeLessThanOrEqual(3)
    expect(order.indexOf('b1')).toBeLessThanOrEqual(6)
    expect(order.filter((name) => name.startsWith('a'))).toEqual(Array.from({ length: 60 }, (_, i) => `a${i}`))
  })

  test('what becomes free goes to who holds least: nobody takes the last place while another waits that has none', async () => {
    const turns = createTurns(3)
    const began: string[] = []
    const take = (tenant: string) => turns.take({ tenant }).then(() => void began.push(tenant))
    // Alone it may have all.
    for (let i = 0; i < 6; i += 1) void take('a')
    await new Promise((resolve) => setImmediate(resolve))
    expect(began).toEqual(['a', 'a', 'a'])
    void take('b')
    void take('b')
    void take('c')
    for (let i = 0; i < 3; i += 1) {
      turns.give('a')
      await new Promise((resolve) => setImmediate(resolve))
    }
    // One each, then the one of them whose turn it is: `a` waits first in line all the while, and holds most.
    expect(began.slice(3)).toEqual(['b', 'c', 'a'])
    turns.give('b')
    await new Promise((resolve) => setImmediate(resolve))
    expect(began.slice(6)).toEqual(['b'])
  })

  test('are left by who stops, and nobody waits for them', async () => {
    const turns = createTurns(1)
    const stop = new AbortController()
    expect(await turns.take({ tenant: 'a' })).toBe(true)
    const left = turns.take({ tenant: 'a', signal: stop.signal })
    const next = turns.take({ tenant: 'a' })
    stop.abort()
    expect(await left).toBe(false)
    expect(await turns.take({ tenant: 'a', signal: stop.signal })).toBe(false)
    turns.give('a')
    expect(await next).toBe(true)
  })
})

test("sixty endless programs of one tenant do not hold up another's, and end with their run", async () => {
  const isolate = createIsolate()
  const run = new AbortController()
  const limit = { ms: 600_000, mb: 64 }
  const ended: Isolated[] = []
  const endless = Array.from({ length: 60 }, async () => {
    const answer = await isolate.run('transform', { program: FOREVER, input: {} }, limit, {
      tenant: 'greedy',
      signal: run.signal,
    })
    ended.push(answer)
  })
  // Every child works on one of them for ten minutes: only their end makes room.
  const other = isolate.run('transform', { program: '6 * 7', input: {} }, limit, { tenant: 'small' })
  run.abort()
  expect(await other).toEqual({ ok: true, value: 42 })
  await Promise.all(endless)
  expect(new Set(ended.map((answer) => !answer.ok && answer.because))).toEqual(new Set(['stopped']))
  await isolate.close()
})
