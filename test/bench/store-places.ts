import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { lambdaClock } from '../../functions/aws/core.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { openDatabase } from '../../infra/local/database.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import type { RunStore } from '../../shared/runs/run-store.ts'
import { startDynalite } from '../emulators/dynamodb.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'

export interface MeasuredStore {
  readonly name: 'SQLite' | 'emulator' | 'in memory'
  readonly store: RunStore
  close(): Promise<void>
}

/**
 * SQLite on disk, as the local place has it; the adapter of AWS over HTTP to an emulator in this process; and the
 * adapter on a table in memory: what it costs itself.
 */
export async function openStores(folder: string): Promise<readonly MeasuredStore[]> {
  return [openSqlite(folder), await openEmulator(), openInMemory()]
}

function openSqlite(folder: string): MeasuredStore {
  const db = openDatabase(join(folder, 'store'))
  return { name: 'SQLite', store: openRunStore(db), close: async () => db.close() }
}

async function openEmulator(): Promise<MeasuredStore> {
  const emulator = await startDynalite()
  const table = await emulator.createTable()
  const client = new DynamoDBClient(emulator.aws)
  return {
    name: 'emulator',
    store: adapterOn(client, table),
    async close() {
      client.destroy()
      await emulator.close()
    },
  }
}

function openInMemory(): MeasuredStore {
  return { name: 'in memory', store: adapterOn(createItemStore().client, 'runs'), close: async () => {} }
}

function adapterOn(client: Pick<DynamoDBClient, 'send'>, table: string): RunStore {
  return runStoreOn({ client, table, clock: lambdaClock, ids: { random: (bytes) => randomBytes(bytes) } })
}
