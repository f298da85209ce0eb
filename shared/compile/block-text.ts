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
  return (
    templateFor(block, emission, onward)?.fill(valuesOf(block, emission, onward)) ?? wholeText(block, emission, onward)
  )
}

/** Bytes of the text, once bound. */
export function blockBytes(block: CompiledBlock, emission: Emission, onward: Onward): number {
  const template = templateFor(block, emission, onward)
  if (template !== undefined) return template.bytes(lengthsOf(block, emission, onward))
  return boundBytes(wholeText(block, emission, onward))
}

function templateFor(block: CompiledBlock, { signals, epoch }: Emission, onward: Onward): Template | undefined {
  const { id, approval, asks, foreach, mode } = block
  if (approval !== undefined || asks !== undefined || foreach !== undefined || opensChild(mode)) return undefined
  return plainBlock(epoch, signals.has(id), 'Next' in onward)
}

function valuesOf({ id }: CompiledBlock, { signals }: Emission, onward: Onward): readonly string[] {
  return [id, 'Next' in onward ? onward.Next : '', signals.get(id)?.join(SEPARATOR) ?? '']
}

function lengthsOf({ id }: CompiledBlock, { signals }: Emission, onward: Onward): readonly number[] {
  const joins = signals.get(id)
  const joined = joins?.reduce((sum, join) => sum + join.length, SEPARATOR.length * (joins.length - 1)) ?? 0
  return [id.length, 'Next' in onward ? onward.Next.length : 0, joined]
}

function wholeText(block: CompiledBlock, emission: Emission, onward: Onward): string {
  return statesText(emitBlock(block, emission, onward))
}

const SEPARATOR = '","'

const plain: (Template | undefined)[] = []

function plainBlock(epoch: boolean, isJoined: boolean, goesOn: boolean): Template {
  const kind = (epoch ? 4 : 0) + (isJoined ? 2 : 0) + (goesOn ? 1 : 0)
  const known = plain[kind]
  if (known !== undefined) return known
  const signals = new Map(isJoined ? [['@id@', ['@joins@']]] : [])
  const onward: Onward = goesOn ? { Next: '@next@' } : { End: true }
  const states = emitBlock({ id: '@id@', upstream: [] }, { signals, epoch }, onward)
  const made = templateOf(states, ['id', 'next', 'joins'])
  plain[kind] = made
  return made
}
