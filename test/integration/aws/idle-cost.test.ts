import { expect, test } from 'vitest'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { IDLE_PRICES, idleCost } from '../../../shared/plan/idle-cost.ts'
import { readText } from '../../unit/docs/markdown.ts'
import { assembled } from './assembled.ts'
import { STACKS } from './assembly.ts'

const PAGE = readText('docs/cost.md')

test('docs/cost.md says what the templates cost idle, line by line', async () => {
  const { template } = await assembled()
  const { lines, usd_a_month } = idleCost(Object.assign({}, ...STACKS.map(template)), PRICES)
  const rows = lines.map(({ what, quantity, usd }) => [what, quantity.toLocaleString('en-US'), `$${usd.toFixed(2)}`])
  rows.push(['**sum**', '', `**$${usd_a_month.toFixed(2)}**`])
  const chapter = PAGE.slice(PAGE.indexOf('## Idle')).split('\n## ')[0] ?? ''
  const told = [...chapter.matchAll(/^\| (.+?) +\| (.*?) *\| (.+?) +\|$/gm)].map(([, ...cells]) => cells)
  expect(told.slice(2)).toEqual(rows)
}, 240_000)

test('docs/cost.md says every price and its day', () => {
  const said = (usd: number) => `$${usd.toFixed(10).replace(/(\.\d\d.*?)0+$/, '$1')}`
  for (const price of Object.values(IDLE_PRICES)) expect(PAGE).toContain(said(price))
  for (const price of ['$0.025', '$0.0000133', '$0.20', '$0.625', '$0.125', '$0.005', '$0.0004', '$3.50', '$0.50'])
    expect(PAGE).toContain(price)
  expect(PAGE).toContain(PRICES.as_of)
})
