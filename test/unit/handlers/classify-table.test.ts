import { describe, expect, test } from 'vitest'
import { findHandler } from '../../../functions/attempts/handlers/registry.ts'
import { runDataJob } from '../../../functions/isolate/table-and-text-engine.ts'
import type { Isolate } from '../../../shared/ports/isolate.ts'
import type { Json } from '../../../shared/text/json.ts'
import { handlerCall } from './call.ts'

const ROWS = Array.from({ length: 30 }, (_, at) => ({
  months: at,
  plan: at % 2 === 0 ? 'a' : 'b',
  left: at < 15 ? 'yes' : 'no',
}))
const config = { label: 'left', positive: 'yes' }
const ports = { record: 'string', metrics: 'json', model: 'json' } as const

/** The engine in this process: the child that runs it is tested by itself. */
const isolate: Isolate = {
  run: async (kind, job) => {
    expect(kind).toBe('classify')
    return { ok: true, value: JSON.parse(runDataJob({ kind, ...job })) }
  },
}
const world = { isolate }

async function classified(inputs: Readonly<Record<string, Json>>, more: object = {}) {
  const { call, seen } = handlerCall({ inputs, ports, world, config: { ...config, ...more } })
  return { values: await findHandler('classify-table').run(call), seen }
}

describe('classify-table', () => {
  test('goes by the columns it is given, else by those of its config, else by all others', async () => {
    const columnsOf = async (inputs: Readonly<Record<string, Json>>, more?: object) => {
      const { values } = await classified({ table: ROWS, ...inputs }, more)
      return (values.model as { columns: Json }).columns
    }
    expect(await columnsOf({})).toEqual(['months', 'plan'])
    expect(await columnsOf({}, { columns: ['plan'] })).toEqual(['plan'])
    expect(await columnsOf({ columns: ['months', 'months'] }, { columns: ['plan'] })).toEqual(['months'])
    expect(await columnsOf({ columns: null }, { columns: ['plan'] })).toEqual(['plan'])
  })

  test('reads CSV and the ref of a stored table as it reads rows', async () => {
    const csv = ['months,plan,left', ...ROWS.map(({ months, plan, left }) => `${months},${plan},${left}`)].join('\n')
    const { values } = await classified({ table: ROWS })
    expect((await classified({ table: csv })).values).toEqual(values)
    const { call, seen } = handlerCall({ ports, world, config })
    const { ref } = await call.world.objects.put('main', Buffer.from(csv))
    expect(await findHandler('classify-table').run({ ...call, inputs: { table: ref } })).toEqual(values)
    expect(seen.artifacts).toEqual([])
  })

  test('keeps the model in the run where it is told to, and says so', async () => {
    const { values, seen } = await classified({ table: ROWS }, { artifact: 'models/m.json' })
    const [artifact] = seen.artifacts
    expect(artifact).toMatchObject({ name: 'models/m.json', media_type: 'application/json', attempt: 2 })
    expect(values.record).toContain(`[ARTIFACT:sha256=${artifact?.sha256}] models/m.json`)
    expect(JSON.parse(Buffer.from(seen.objects.get(artifact?.ref ?? '') ?? []).toString())).toEqual(values.model)
  })

  test.each<[Readonly<Record<string, Json>>, object, string]>([
    [{ table: 'x' }, {}, 'its input is no table'],
    [{ table: ROWS, columns: 'months' }, {}, 'its input "columns" is no list of names of columns'],
    [{ table: ROWS, columns: [] }, {}, 'its input "columns" is no list'],
    [{ table: ROWS }, { positive: 'maybe' }, '0 of 30 rows have left = maybe'],
    [{ table: ROWS }, { columns: ['age'] }, 'there is no column "age"'],
  ])('refuses %j', async (inputs, more, words) => {
    await expect(classified(inputs, more)).rejects.toMatchObject({
      name: 'InvalidInput',
      code: 'classify_table_failed',
      message: expect.stringContaining(words),
    })
  })

  test('says why the model stopped', async () => {
    const slow: Isolate = { run: async () => ({ ok: false, because: 'time', message: 'it ran longer than 30000 ms' }) }
    const { call } = handlerCall({ inputs: { table: ROWS }, ports, config, world: { isolate: slow } })
    await expect(findHandler('classify-table').run(call)).rejects.toThrow(
      'the model stopped (time): it ran longer than 30000 ms.',
    )
  })
})
