import type { TurnName, Turns } from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, type Item } from './item-encoding.ts'
import type { RunTable } from './table.ts'

/** TURN: who has it and until when. Forgotten a day after it was taken last. */
export function turnsOn(table: RunTable): Turns {
  return {
    async takeTurn(of, by, now, until) {
      const taken = await table.update(turnKey(of), ({ path, value }) => {
        const [mine, end] = [value(as.text(by)), value(as.text(until))]
        const ttl = value(as.number(Math.floor(Date.parse(until) / 1_000) + DAY_SEC))
        return {
          update: `SET ${path('by')} = ${mine}, ${path('until')} = ${end}, ${path('ttl')} = ${ttl}`,
          condition: `attribute_not_exists(${path('by')}) OR ${path('by')} = ${mine} OR ${path('until')} <= ${value(as.text(now))}`,
        }
      })
      return taken.ok
    },
    async endTurn(of, by) {
      await table.update(turnKey(of), ({ path, value }) => ({
        update: `REMOVE ${path('by')}, ${path('until')}`,
        condition: `${path('by')} = ${value(as.text(by))}`,
      }))
    },
  }
}

const DAY_SEC = 86_400

function turnKey({ tenant, name }: TurnName): Item {
  return { pk: as.text(`T#${tenant}#TURN#${sha256(name)}`), sk: as.text('TURN') }
}
