import { createHmac } from 'node:crypto'
import { as, from } from './attribute-values.ts'
import { type Cursors, createCursors } from './cursors.ts'
import type { RunTable } from './run-table.ts'
import { ifAbsent } from './table-writes.ts'

/** Cursors of a tenant, under a key made once a tenant and table and kept there, so that they outlive the process. */
export function cursorsOf(
  table: RunTable,
  random: (bytes: number) => Uint8Array,
): (tenant: string) => Promise<Cursors> {
  const known = new Map<string, Cursors>()
  return async (tenant) => {
    const cursors = known.get(tenant) ?? createCursors(await keyOf(table, tenant, random))
    if (known.size >= KNOWN_TENANTS) known.clear()
    known.set(tenant, cursors)
    return cursors
  }
}

const KNOWN_TENANTS = 1_000

async function keyOf(table: RunTable, tenant: string, random: (bytes: number) => Uint8Array): Promise<Uint8Array> {
  const key = { pk: as.text(`T#${tenant}`), sk: as.text('CURSOR_KEY') }
  const there = await table.get(key)
  if (there !== undefined) return derived(from.bytes(there, 'key'))
  const made = random(32)
  const written = await table.put({ ...key, key: as.bytes(made) }, ifAbsent)
  if (written.ok) return derived(made)
  return derived(from.bytes((await table.get(key)) ?? {}, 'key'))
}

/** The item is a secret to derive from; cursors are one use of it. */
function derived(secret: Uint8Array): Uint8Array {
  return createHmac('sha256', secret).update('sluice cursors of runs').digest()
}
