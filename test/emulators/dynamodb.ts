import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type Projection,
} from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { RUN_TABLE, type TableIndex } from '../../shared/runs/dynamodb-table.ts'
import { type EmulatedAws, emulatedAws } from './aws-client.ts'
import { openRulesProxy } from './rules-proxy.ts'

/** A DynamoDB on a port of 127.0.0.1. */
export interface DynamodbEmulator {
  readonly aws: EmulatedAws
  /** Makes an empty table of the shape of shared/runs/dynamodb-table.ts and answers its name. */
  createTable(): Promise<string>
  close(): Promise<void>
}

export type EmulatorName = 'dynalite' | 'dynoxide'

/**
 * The one that `npm test` asks: dynoxide, which is several times as fast, or dynalite where its binary is not installed. The
 * slow suite asks dynalite everywhere.
 */
export function everyDayEmulator(): {
  readonly name: EmulatorName
  readonly start: () => Promise<DynamodbEmulator | undefined>
} {
  if (dynoxideBinary() !== undefined) return { name: 'dynoxide', start: startDynoxide }
  return { name: 'dynalite', start: startDynalite }
}

/** The same, started. */
export async function startDynamodb(): Promise<DynamodbEmulator> {
  return (await startDynoxide()) ?? (await startDynalite())
}

/**
 * dynalite: JavaScript, in memory, always there. It has conditions, expressions, indexes and paging; not: the item of a
 * failed condition, TTL, transactions, streams. Its indexes are never behind.
 */
export async function startDynalite(): Promise<DynamodbEmulator> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return dynamodbAt(portOf(server), async () => {
    const closed = once(server, 'close')
    server.closeAllConnections()
    server.close()
    await closed
  })
}

/**
 * dynoxide, over SQLite in memory: the binary of an optional npm package; undefined where it is not installed. It
 * answers the item of a failed condition.
 */
export async function startDynoxide(): Promise<DynamodbEmulator | undefined> {
  const binary = dynoxideBinary()
  if (binary === undefined) return undefined
  const port = await freePort()
  const child = spawn(binary, ['serve', '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  // What fails before its cleanup must not leave it behind.
  const stop = () => child.kill()
  process.once('exit', stop)
  await answering(`http://127.0.0.1:${port}`)
  return dynamodbAt(port, async () => {
    process.off('exit', stop)
    stop()
    await ended
  })
}

/** Where the binary is installed, if it is. */
function dynoxideBinary(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@dynoxide/${process.platform}-${process.arch}/package.json`,
    )
    return join(dirname(manifest), 'dynoxide')
  } catch {
    return undefined
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  await once(server, 'close')
  return port
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

export async function answering(url: string, most = 100): Promise<void> {
  for (let tries = 0; tries < most; tries += 1) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return
    await sleep(50)
  }
  throw new Error(`Cannot use the emulator at ${url}: it did not answer within ${most / 20} s.`)
}

/** Every request goes past the rules of DynamoDB first (dynamodb-rules.ts). */
export async function dynamodbAt(port: number, stop: () => Promise<void>, sockets?: number): Promise<DynamodbEmulator> {
  const rules = await openRulesProxy(port, sockets)
  const aws = emulatedAws(`http://127.0.0.1:${rules.port}`)
  const client = new DynamoDBClient(aws)
  let tables = 0
  return {
    aws,
    async createTable() {
      tables += 1
      const TableName = `sluice-test-${tables}`
      await client.send(new CreateTableCommand({ TableName, ...shape() }))
      for (;;) {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }))
        if (Table?.TableStatus === 'ACTIVE') return TableName
        await sleep(2)
      }
    },
    async close() {
      client.destroy()
      await rules.close()
      await stop()
    },
  }
}

function shape(): Omit<CreateTableCommandInput, 'TableName'> {
  const { hash, range, indexes } = RUN_TABLE
  const keys = [hash, range, ...indexes.flatMap((index) => [index.hash, index.range])]
  return {
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...new Set(keys)].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: keySchema(hash, range),
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.hash, index.range),
      Projection: projection(index),
    })),
  }
}

function keySchema(hash: string, range: string): NonNullable<CreateTableCommandInput['KeySchema']> {
  return [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ]
}

function projection({ include }: TableIndex): Projection {
  if (include.length === 0) return { ProjectionType: 'KEYS_ONLY' }
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: [...include] }
}
