import type { DatabaseSync } from 'node:sqlite'
import type { Append } from '../../../shared/runs/append.ts'
import type { Amount } from '../../../shared/runs/run-budget.ts'
import { query } from './query.ts'

const NOTHING: Amount = { tokens: 0, usd_micros: 0 }

/** What the items of a foreach block have committed together, while they are open. */
export function shareReader(db: DatabaseSync): (run: number, block: number) => Amount {
  const read = query<{ readonly body: string }>(
    db,
    "SELECT body FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?",
  )
  return (run, block) => {
    const found = read.one(run, String(block))
    return found === undefined ? NOTHING : JSON.parse(found.body)
  }
}

/** Counts what an append reserves and settles for a foreach block; its end forgets it. */
export function shareWriter(db: DatabaseSync): (run: number, append: ShareChange) => void {
  const now = shareReader(db)
  const put = db.prepare("INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, 'shares', ?, ?)")
  const forget = db.prepare("DELETE FROM head_maps WHERE run = ? AND map = 'shares' AND key = ?")
  return (run, { reserve = NOTHING, settle, share, drop_items }) => {
    if (drop_items !== undefined) forget.run(run, String(drop_items.block))
    if (share === undefined || share.block === drop_items?.block) return
    const { reserved = NOTHING, spent = NOTHING } = settle ?? {}
    const before = now(run, share.block)
    const after: Amount = {
      tokens: before.tokens + reserve.tokens + spent.tokens - reserved.tokens,
      usd_micros: before.usd_micros + reserve.usd_micros + spent.usd_micros - reserved.usd_micros,
    }
    put.run(run, String(share.block), JSON.stringify(after))
  }
}

type ShareChange = Pick<Append, 'reserve' | 'settle' | 'share' | 'drop_items'>
