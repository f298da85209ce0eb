import type { DatabaseSync } from 'node:sqlite'
import { DeleteItemCommand, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { forgetRuns } from '../../infra/local/run-store/live-runs.ts'
import type { RunKey, RunStore } from '../../shared/runs/run-store.ts'

/** What is stored of a run that somebody changed by hand: HEAD, META, or the question of this id. */
export interface Damage {
  readonly item: 'META' | 'HEAD' | `A#${string}`
  readonly how: 'garbled' | 'gone'
}

/** How a store's items are damaged behind its back. */
export type DamageItem = (run: RunKey, damage: Damage) => Promise<void>

const RUN = '(SELECT run FROM runs WHERE tenant = ? AND run_id = ?)'
const ROWS = {
  META: { garbled: `UPDATE metas SET body = '{' WHERE run = ${RUN}`, gone: `DELETE FROM metas WHERE run = ${RUN}` },
  HEAD: {
    garbled: `INSERT INTO head_maps (run, map, key, body) VALUES (${RUN}, 'modules', 'm', '{')`,
    gone: `DELETE FROM runs WHERE run = ${RUN}`,
  },
} as const

export function damageRow(db: DatabaseSync): DamageItem {
  return async ({ tenant, run_id }, { item, how }) => {
    if (item === 'META' || item === 'HEAD') db.prepare(ROWS[item][how]).run(tenant, run_id)
    else db.prepare(`UPDATE approvals SET item = '{' WHERE run = ${RUN} AND id = ?`).run(tenant, run_id, item.slice(2))
    // A place would have to be stopped for that: nobody else writes while it holds the file.
    forgetRuns(db)
  }
}

export function damageItem(client: Pick<DynamoDBClient, 'send'>, table: string): DamageItem {
  return async ({ tenant, run_id }, { item, how }) => {
    const Key = { pk: { S: `T#${tenant}#R#${run_id}` }, sk: { S: item } }
    if (how === 'gone') {
      await client.send(new DeleteItemCommand({ TableName: table, Key }))
      return
    }
    const [name, garbage] =
      item === 'HEAD'
        ? (['modules', { M: { m: { S: '{' } } }] as const)
        : ([item === 'META' ? 'body' : 'item', { S: '{' }] as const)
    const ExpressionAttributeNames = { '#0': name }
    const ExpressionAttributeValues = { ':0': garbage }
    const UpdateExpression = 'SET #0 = :0'
    await client.send(
      new UpdateItemCommand({
        TableName: table,
        Key,
        UpdateExpression,
        ExpressionAttributeNames,
        ExpressionAttributeValues,
      }),
    )
  }
}

interface Damaged {
  readonly store: RunStore
  readonly damage: DamageItem
  /** Begins a run that asks one question; answers both. */
  ask(n: number): Promise<{ readonly run: RunKey; readonly id: string }>
}

/** One damaged item hides nothing else, and is named: in the list of runs, and in the inbox. */
export function damageTests(open: () => Damaged): void {
  const rows = [
    { item: 'META', how: 'garbled' },
    { item: 'META', how: 'gone' },
    { item: 'HEAD', how: 'garbled' },
  ] as const
  test.each(rows)('a run whose $item is $how is named in both lists, and the rest is there', async (damage) => {
    const { store, damage: harm, ask } = open()
    const wrong = await ask(1)
    const good = await ask(2)
    await harm(wrong.run, damage)
    const named = { run_id: wrong.run.run_id, item: damage.item, seen: expect.any(String) }
    const { runs, damaged } = await store.list('main', { limit: 10 })
    expect([runs.map(({ run_id }) => run_id), damaged]).toEqual([[good.run.run_id], [named]])
    const inbox = await store.inbox('main', { closed: false, limit: 10 })
    expect(inbox.asked.map(({ item }) => item.id)).toEqual([good.id])
    expect(inbox.damaged).toEqual([{ ...named, approval_id: wrong.id }])
  })

  test('a question that is garbled is named in the inbox, and its run is listed', async () => {
    const { store, damage, ask } = open()
    const wrong = await ask(1)
    const good = await ask(2)
    await damage(wrong.run, { item: `A#${wrong.id}`, how: 'garbled' })
    const inbox = await store.inbox('main', { closed: false, limit: 10 })
    expect(inbox.asked.map(({ item }) => item.id)).toEqual([good.id])
    expect(inbox.damaged).toEqual([
      { run_id: wrong.run.run_id, approval_id: wrong.id, item: 'APPROVAL', seen: expect.any(String) },
    ])
    expect((await store.list('main', { limit: 10 })).runs).toHaveLength(2)
  })

  test('a run whose HEAD is gone has expired: nothing is said of it', async () => {
    const { store, damage, ask } = open()
    const gone = await ask(1)
    await damage(gone.run, { item: 'HEAD', how: 'gone' })
    expect(await store.list('main', { limit: 10 })).toEqual({ runs: [] })
    expect(await store.inbox('main', { closed: false, limit: 10 })).toEqual({ asked: [] })
  })
}
