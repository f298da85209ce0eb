import { opensChild } from '../dag/opens-child.ts'
import { boundBytes } from './bound-bytes.ts'
import type { CompiledBlock } from './compiled-block.ts'
import { type Emission, emitBlock, type Onward } from './emit-block.ts'
import { statesText, type Template, templateOf } from './state-text.ts'

/**
 * The states of one block as text. Blocks that only run differ in a few names: their states are written once a kind,
 * and the names filled in.
 */
export function blockText(block: CompiledBlock, emission: Emission, onward: Onward): string {
  if (!isPlain(block)) return statesText(emitBlock(block, emission, onward))
  const joins = emission.signals.get(block.id)
  const template = plainBlock(emission.epoch, joins !== undefined, 'Next' in onward)
  return template.fill([block.id, 'Next' in onward ? onward.Next : '', joins === undefined ? '' : joined(joins)])
}

/** Bytes of the text, once bound. */
export function blockBytes(block: CompiledBlock, emission: Emission, onward: Onward): number {
  if (!isPlain(block)) return boundBytes(statesText(emitBlock(block, emission, onward)))
  const joins = emission.signals.get(block.id)
  const template = plainBlock(emission.epoch, joins !== undefined, 'Next' in onward)
  return template.bytes([block.id.length, 'Next' in onward ? onward.Next.length : 0, joinedLength(joins)])
}

function isPlain({ approval, asks, foreach, mode }: CompiledBlock): boolean {
  return approval === undefined && asks === undefined && foreach === undefined && !opensChild(mode)
}

const SEPARATOR = '","'

/** Most signal one join or none. */
function joined(joins: readonly string[]): string {
  const [only] = joins
  return joins.length === 1 && only !== undefined ? only : joins.join(SEPARATOR)
}

function joinedLength(joins: readonly string[] = []): number {
  let length = SEPARATOR.length * Math.max(0, joins.length - 1)
  for (const join of joins) length += join.length
  return length
}

const plain: (Template | undefined)[] = []

function plainBlock(epoch: boolean, isJoined: boolean, goesOn: boolean): Template {
  const kind = (epoch ? 4 : 0) + (isJoined ? 2 : 0) + (goesOn ? 1 : 0)
  return plain[kind] ?? makePlain(kind, epoch, isJoined, goesOn)
}

function makePlain(kind: number, epoch: boolean, isJoined: boolean, goesOn: boolean): Template {
  const signals = new Map(isJoined ? [['@id@', ['@joins@']]] : [])
  const onward: Onward = goesOn ? { Next: '@next@' } : { End: true }
  const states = emitBlock({ id: '@id@', upstream: [] }, { signals, epoch }, onward)
  const made = templateOf(states, ['id', 'next', 'joins'])
  plain[kind] = made
  return made
}
