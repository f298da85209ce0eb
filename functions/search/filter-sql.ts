import type { SQLInputValue } from 'node:sqlite'
import type { EntityFilter } from '../../shared/graph/search-index.ts'
import { lookupName, objectNumber } from './entity-rows.ts'

/** A condition on `entities e`, and its values in order. */
export interface FilterSql {
  readonly condition: string
  readonly values: readonly SQLInputValue[]
}

export function filterSql(filter: EntityFilter = {}): FilterSql {
  const parts = [{ condition: 'e.hash IS NOT NULL', values: [] }, ...namedParts(filter), ...rangeParts(filter)]
  return {
    condition: parts.map(({ condition }) => condition).join(' AND '),
    values: parts.flatMap(({ values }) => values),
  }
}

function namedParts({ type, domain, stated }: EntityFilter): readonly FilterSql[] {
  const object = stated?.object
  return [
    ...(type === undefined ? [] : [{ condition: '(e.kind = ? OR e.segment = ?)', values: twice(lookupName(type)) }]),
    ...(domain === undefined ? [] : [{ condition: 'e.domain = ?', values: [domain] }]),
    ...(stated === undefined
      ? []
      : [
          {
            condition: `e.node IN (SELECT s.node FROM stated s JOIN predicates p USING (predicate)
              WHERE p.name = ?${object === undefined ? '' : ' AND s.object = ?'})`,
            values: [stated.predicate, ...(object === undefined ? [] : [objectNumber(object)])],
          },
        ]),
  ]
}

function rangeParts({ time_range: time, geo_bounds: box }: EntityFilter): readonly FilterSql[] {
  const between = 'e.at BETWEEN ? AND ?'
  const crosses = box !== undefined && box.west > box.east
  const lon = crosses ? '(e.lon >= ? OR e.lon <= ?)' : 'e.lon BETWEEN ? AND ?'
  return [
    ...(time === undefined ? [] : [{ condition: between, values: [Date.parse(time.from), Date.parse(time.to)] }]),
    ...(box === undefined
      ? []
      : [{ condition: `e.lat BETWEEN ? AND ? AND ${lon}`, values: [box.south, box.north, box.west, box.east] }]),
  ]
}

function twice(value: string): readonly string[] {
  return [value, value]
}
