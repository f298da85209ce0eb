import { opensChild } from '../dag/opens-child.ts'
import type { CompiledBlock } from './compiled-block.ts'
import { type Emission, emitBlock, type Onward } from './emit-block.ts'
import { statesText, type Template, templateOf } from './state-text.ts'

/**
 * The states of one block as text. Blocks that only run differ in a few names: their states are written once a kind,
 * and the names filled in.
 */
export function blockText(block: CompiledBlock, emission: Emission, onward: Onward): string {
  const { id, approval, asks, foreach, mode } = block
  if (approval !== undefined || asks !== undefined || foreach !== undefined || opensChild(mode)) {
    return statesText(emitBlock(block, emission, onward))
  }
  const joins = emission.signals.get(id)
  const next = 'Next' in onward ? onward.Next : undefined
  const template = plainBlock(emission.epoch, joins !== undefined, next !== undefined)
  return template([id, next ?? '', joins === undefined ? '' : joins.join('","')])
}

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
