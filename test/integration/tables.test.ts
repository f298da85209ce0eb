import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { atMost, firstDaily } from '../how-much.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** read-table and write-table in a real place: files of the inputs folder, the isolate, artifacts, caches, retries. */
let place: TestPlace
beforeAll(async () => {
  place = await openTestPlace()
})
afterAll(() => place.close())

const TICKETS = atMost(500)
const ticket = (at: number) => `T-${at};"Dear all,\r\n${at % 45 === 0 ? '\r\n' : ''}row ${at}; ""again""";${at % 7}`
const CSV = `id;text;minutes\r\n${Array.from({ length: TICKETS }, (_, at) => ticket(at)).join('\r\n')}\r\n`

const reading = (more: object = {}, config: object = {}) => ({
  id: 'read',
  mode: 'deterministic',
  outputs: { rows: 'json', columns: 'json' },
  deterministic: { handler: 'read-table', config: { path: '{{inputs.file_name}}', ...config } },
  ...more,
})

async function run(blocks: readonly object[], inputs: object) {
  const id = await place.start({ name: 'tables', inputs: { file_name: 'string' }, blocks }, { inputs })
  return { id, ...told(await place.ended(id)) }
}

function told(events: readonly RunEvent[]) {
  const failed = events.find(({ type }) => type === 'block:failed')
  const { code, reason } = failed?.type === 'block:failed' ? failed.data : { code: undefined, reason: undefined }
  return { events, end: events.at(-1)?.type, code, reason }
}

async function outputOf(events: readonly RunEvent[], block: string, port: string) {
  const found = events.findLast(({ type, block_id, item }) => {
    return type === 'block:output' && block_id === block && item === undefined
  })
  const ref = found?.type === 'block:output' ? (found.data.outputs[port]?.ref ?? '') : ''
  return JSON.parse(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8'))
}

async function artifactOf(id: string, name: string): Promise<string> {
  const all = await place.place.world.runs.artifacts({ tenant: 'main', run_id: id })
  const ref = all.find((one) => one.name === name)?.ref ?? ''
  return Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8')
}

describe(`${TICKETS} tickets with line breaks in their cells`, () => {
  const write = {
    id: 'write',
    mode: 'deterministic',
    inputs: { rows: { from: 'read.rows' }, columns: { from: 'read.columns' } },
    outputs: { file: 'artifact' },
    deterministic: { handler: 'write-table', config: { name: 'out.csv', separator: 'semicolon', line_end: 'crlf' } },
  }
  const again = reading({ id: 'again', inputs: { file: { from: 'write.file' } } }, { path: undefined })

  test('are as many rows, are judged one by one, and leave as that many', async () => {
    mkdirSync(join(place.folder, 'day'))
    writeFileSync(join(place.folder, 'day', 'tickets.csv'), CSV)
    const judge = {
      id: 'judge',
      mode: 'deterministic',
      inputs: { rows: { from: 'read.rows' } },
      outputs: { ticket: 'json' },
      foreach: { items: '{{inputs.rows}}', as: 'ticket', max_concurrency: 40 },
      deterministic: { handler: 'pass', config: {} },
    }
    const { deterministic, ...rest } = again
    const back = { ...rest, deterministic: { ...deterministic, config: {} } }
    const saved = { ...write, inputs: { ...write.inputs, rows: { from: 'judge.ticket' } } }
    const { id, events, end } = await run([reading(), judge, saved, back], { file_name: 'day/tickets.csv' })
    expect(end).toBe('run:completed')
    const rows = await outputOf(events, 'read', 'rows')
    expect(rows).toHaveLength(TICKETS)
    expect(rows[45]).toEqual({ id: 'T-45', text: 'Dear all,\r\n\r\nrow 45; "again"', minutes: '3' })
    expect(await outputOf(events, 'again', 'rows')).toEqual(rows)
    // Nothing was lost or made up: the file is the same again.
    expect(await artifactOf(id, 'out.csv')).toBe(CSV)
  }, 120_000)

  test('leave an artifact that a retried run takes along', async () => {
    const { id, end } = await run([reading(), write, { id: 'fails', ...FAILS, depends: 'write.succeeded' }], {
      file_name: 'day/tickets.csv',
    })
    expect(end).toBe('run:failed')
    const { json } = await place.call('retry-run', id, {})
    const retry = String((json as { readonly run_id?: string }).run_id)
    const events = await place.ended(retry)
    expect(events.filter(({ type, block_id }) => type === 'block:output' && block_id === 'write')).not.toEqual([])
    expect(await artifactOf(retry, 'out.csv')).toBe(CSV)
  }, 60_000)
})

const FAILS = {
  mode: 'deterministic',
  outputs: { x: 'json' },
  deterministic: { handler: 'transform', config: { expression: '$error("no")' } },
}

describe('a path that an input names', () => {
  beforeAll(() => {
    writeFileSync(join(place.folder, 'one.csv'), 'a\n1\n')
    writeFileSync(join(place.folder, 'two.csv'), 'a\n2\n')
    symlinkSync('/etc/passwd', join(place.folder, 'link.csv'))
  })

  test.each(['read-table', 'read-input'])('is part of what the result of %s is kept under', async (handler) => {
    const outputs = { rows: handler === 'read-table' ? 'json' : 'string' }
    const block = { ...reading({ outputs, cache: { max_age_sec: 86_400 } }), name: handler }
    const blocks = [{ ...block, deterministic: { ...block.deterministic, handler } }]
    const seen: unknown[] = []
    for (const file_name of ['one.csv', 'two.csv', 'one.csv']) {
      const { events, end } = await run(blocks, { file_name })
      expect(end).toBe('run:completed')
      seen.push(await outputOf(events, 'read', 'rows'))
    }
    const [first, second, third] = seen
    expect(JSON.stringify([first, second])).toMatch(handler === 'read-table' ? /"1".*"2"/ : /a\\n1.*a\\n2/)
    expect(third).toEqual(first)
  })

  test.each([
    ['../one.csv', 'input_outside'],
    ['day/../../one.csv', 'input_outside'],
    ['..\\one.csv', 'input_outside'],
    ['/etc/passwd', 'input_path'],
    ['a\0b', 'input_path'],
    ['', 'input_path'],
    ['link.csv', 'input_outside'],
    ['none.csv', 'input_missing'],
  ])('is judged with its input in place: %j is refused', async (file_name, code) => {
    for (const handler of ['read-table', 'read-input']) {
      const block = reading({ outputs: { rows: 'json' } })
      const { deterministic } = block
      const { code: seen } = await run([{ ...block, deterministic: { ...deterministic, handler } }], { file_name })
      expect([handler, seen]).toEqual([handler, code])
    }
  })

  test('may be an item of a fan-out', async () => {
    const block = reading(
      { inputs: {}, foreach: { items: ['one.csv', 'two.csv'], as: 'name' } },
      { path: '{{inputs.name}}' },
    )
    const { events, end } = await run([block], { file_name: 'x' })
    expect(end).toBe('run:completed')
    expect(await outputOf(events, 'read', 'rows')).toEqual([[{ a: '1' }], [{ a: '2' }]])
  })
})

describe('a hostile table', () => {
  const ends = '%s ends its attempt with a reason, and nothing else'
  const tables: readonly [string, () => Buffer | string, string][] = [
    ['of quotes alone', () => `a\n"${'""'.repeat(5_000_000)}`, 'table_malformed'],
    ['of too many rows', () => `a\n${'1\n'.repeat(1_000_000)}`, 'table_too_large'],
    ['of brackets', () => '['.repeat(10_000_000), 'table_malformed'],
    ['of half of a character', () => '[{"a":"\\ud800"}]', 'table_malformed'],
    [
      'of random bytes',
      () => Buffer.from(Array.from({ length: 10_000 }, (_, at) => (at * 7919) % 251)),
      'table_encoding',
    ],
    ['of separators alone', () => ','.repeat(10_000_000), 'table_too_large'],
    ['of line breaks alone', () => '\n'.repeat(10_000_000), 'run:completed'],
  ]
  for (const { tags, rows } of firstDaily(5, tables)) {
    test.each(rows)(ends, { tags, timeout: 60_000 }, async (_, made, code) => {
      writeFileSync(join(place.folder, 'hostile.csv'), made())
      const { code: seen, reason, end } = await run([reading()], { file_name: 'hostile.csv' })
      expect(seen ?? end).toBe(code)
      if (reason !== undefined) expect(reason).toMatch(/Cannot run block "read" \(read-table\): \S/)
    })
  }
})
