import { expect, test } from 'vitest'
import { blockByKey, layoutGraph } from '../../../clients/console/run/graph/graph-layout.ts'

const layout = layoutGraph({
  ids: ['plan', 'build', 'test', 'ship'],
  edges: [
    { from: 'plan', to: 'build' },
    { from: 'plan', to: 'test' },
    { from: 'build', to: 'ship' },
    { from: 'test', to: 'ship' },
  ],
})
const [upper = '', lower = ''] = layout.nodes.filter(({ rank }) => rank === 1).map(({ id }) => id)

test.each([
  [upper, 'ArrowRight', 'ship'],
  [upper, 'ArrowLeft', 'plan'],
  [upper, 'ArrowDown', lower],
  [lower, 'ArrowUp', upper],
  ['ship', 'Home', 'plan'],
  ['plan', 'End', 'ship'],
  ['ship', 'ArrowRight', undefined],
  ['plan', 'ArrowLeft', undefined],
  [upper, 'ArrowUp', undefined],
  ['plan', 'Enter', undefined],
  ['plan', '__proto__', undefined],
  ['unknown', 'ArrowRight', undefined],
])('from %s, %s leads to %s', (from, key, to) => {
  expect(blockByKey(layout, from, key)).toBe(to)
})

test('right leads along an edge only: not to a neighbour nothing connects', () => {
  const apart = layoutGraph({ ids: ['a', 'b', 'c'], edges: [{ from: 'a', to: 'b' }] })
  expect(blockByKey(apart, 'c', 'ArrowRight')).toBeUndefined()
})
