import type { Block, Dag } from '../dag/dag.ts'
import type { RunEvent } from '../runs/event.ts'
import type { Meta } from '../runs/run-store.ts'
import type { DocumentChange, RunChanges } from '../runs/run-store-items.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { NOT_DEPLOYED, VALUE_LENGTH } from './run-change-lines.ts'

/** Undefined: it runs its deployed document with declared inputs. `events`: those so far. */
export function runChanges(
  { overrides, edited, given = [] }: Pick<Meta, 'overrides' | 'edited' | 'given'>,
  events: readonly RunEvent[],
): RunChanges | undefined {
  const began = given.map((one) => ({ ...one, version: 0 }))
  const later = events.flatMap((event) => {
    if (event.type !== 'context:patched') return []
    const { keys, version, by } = event.data
    return keys.map((key) => ({ key, version, ...(by === undefined ? {} : { by }) }))
  })
  const patched = [...began, ...later]
  const set = Object.entries(overrides).map(([port, value]) => {
    const json = canonicalJson(value)
    return { port, value: json.slice(0, VALUE_LENGTH).toWellFormed(), sha256: sha256(json) }
  })
  if (patched.length === 0 && set.length === 0 && edited === undefined) return undefined
  return {
    ...(set.length === 0 ? {} : { overrides: set }),
    ...(patched.length === 0 ? {} : { context: patched }),
    ...(edited === undefined ? {} : { document: edited }),
  }
}

/** How a document differs from another one, and what its blocks are bound to; undefined: in nothing. */
export function documentChange(
  given: { readonly dag: Dag; readonly dag_hash: string },
  than: { readonly dag: Dag; readonly dag_hash: string; readonly of: string },
): DocumentChange | undefined {
  const { dag, dag_hash } = { ...given, dag: withoutPins(given.dag) }
  const before = { ...than, dag: withoutPins(than.dag) }
  // The same text may be bound to other agents.
  if (dag_hash === before.dag_hash && sameDag(dag, before.dag)) return undefined
  const now = new Map(dag.blocks.map((block) => [block.id, blockText(block)]))
  const then = new Map(before.dag.blocks.map((block) => [block.id, blockText(block)]))
  const changed = [...now.keys()].filter((id) => then.has(id) && then.get(id) !== now.get(id))
  const added = [...now.keys()].filter((id) => !then.has(id))
  const removed = [...then.keys()].filter((id) => !now.has(id))
  const { blocks: _, ...rest } = dag
  const { blocks: __, ...restBefore } = before.dag
  const other = canonicalJson(rest as unknown as Json) !== canonicalJson(restBefore as unknown as Json)
  return { of: before.of, dag_hash: before.dag_hash, added, removed, changed, other }
}

/** Tools are frozen when a run starts: what is deployed has none of it, and is the same document. */
function withoutPins(dag: Dag): Dag {
  return { ...dag, blocks: dag.blocks.map(withoutBlockPins) }
}

function withoutBlockPins(block: Block): Block {
  if (block.mode !== 'ai' || block.agent.acting === undefined) return block
  const { acting } = block.agent
  const tools = acting.tools.map(({ pin: _, ...tool }) => tool)
  // The hash stands for the pins, too.
  return { ...block, agent: { ...block.agent, acting: { ...acting, tools } }, hash: '' }
}

/** Of a document that came with a request, where none of its name is deployed. */
export function undeployedDocument({ dag_hash }: { readonly dag_hash: string }): DocumentChange {
  return { of: NOT_DEPLOYED, dag_hash, added: [], removed: [], changed: [], other: false }
}

function sameDag(dag: Dag, other: Dag): boolean {
  return canonicalJson(dag as unknown as Json) === canonicalJson(other as unknown as Json)
}

function blockText(block: Dag['blocks'][number]): string {
  const { index: _, ...definition } = block
  return canonicalJson(definition as unknown as Json)
}
