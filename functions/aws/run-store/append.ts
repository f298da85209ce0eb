import { Fault } from '../../../shared/errors.ts'
import type { Append, Appended } from '../../../shared/runs/append.ts'
import { requireForward } from '../../../shared/runs/require-forward.ts'
import type { Caps } from '../../../shared/runs/run-caps.ts'
import type { RunStore } from '../../../shared/runs/run-store.ts'
import { appendChange, tailLimit } from './append-change.ts'
import { eventTexts } from './event-texts.ts'
import { finishAppend } from './finish-append.ts'
import { headKey, readHead, type StoredHead } from './head-item.ts'
import { ownSeq } from './own-append.ts'
import { refusalOf } from './refusal.ts'
import type { RunTable } from './run-table.ts'
import { spill } from './spill.ts'

/**
 * The one write that moves a run: one conditional update of HEAD (docs/architecture.md, "What an append writes"). A
 * failed condition is explained by HEAD as it is then. An append whose answer was lost on the way is found again by its
 * nonce and answered `ok`; calling again with an append that was taken is `already`. Fault Unavailable store_busy when
 * the tail stayed full for about ten seconds.
 */
export function appendTo(table: RunTable): Pick<RunStore, 'append'> {
  return {
    async append(append) {
      requireForward(append)
      const nonce = table.nonce()
      const texts = eventTexts(append, nonce)
      const writing: Writing = {
        append,
        nonce,
        texts,
        check: 'mine',
        caps: undefined,
        resent: false,
        full_at: undefined,
      }
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const done = await tryOnce(table, writing)
        if (done !== undefined) return done
        await table.pause(tries)
      }
      throw busy(append)
    },
  }
}

const MAX_TRIES = 50

interface Writing {
  readonly append: Append
  readonly nonce: string
  readonly texts: readonly string[]
  /** Whose check_at is the earlier, as far as HEAD was seen. */
  check: 'mine' | 'theirs'
  /** The run's caps, as HEAD was seen: an append that raises them says from where. */
  caps: Caps | undefined
  /** The SDK sent one of the tries more than once. */
  resent: boolean
  /** Base of HEAD when the tail was full last. */
  full_at: number | undefined
}

/** undefined: HEAD would take the append, but its tail was full, or another writer was faster; try again. */
async function tryOnce(table: RunTable, writing: Writing): Promise<Appended | undefined> {
  const { append, texts, check } = writing
  const { run, events } = append
  const { retention_days } = table
  if (append.raise !== undefined) writing.caps ??= await capsNow(table, append)
  const how = { check, caps: writing.caps, retention_days }
  const written = await table.update(headKey(run), appendChange(append, texts, how))
  if (written.ok) return finishAppend(table, append, readHead(written.item))
  writing.resent ||= written.sent > 1
  const item = written.item ?? (await table.get(headKey(run)))
  if (item === undefined) return { ok: false, because: 'unknown_run' }
  const seen = readHead(item)
  const before = await ownSeq(table, seen, writing)
  if (before !== undefined) return finishAppend(table, append, seen, before + events.length)
  const because = refusalOf(seen, append)
  if (because !== undefined) return { ok: false, because }
  writing.caps = seen.head.budget
  writing.check = (seen.head.check_at ?? '~') > (append.check_at ?? '') ? 'mine' : 'theirs'
  if (seen.tail.length >= tailLimit(texts)) await makeRoom(table, writing, seen)
  return undefined
}

async function capsNow(table: RunTable, { run }: Append): Promise<Caps> {
  const item = await table.get(headKey(run))
  return item === undefined ? {} : readHead(item).head.budget
}

/** Whoever filled the tail is spilling it; a herd that helps at once would write the same page many times. */
async function makeRoom(table: RunTable, writing: Writing, seen: StoredHead): Promise<void> {
  if (writing.full_at === seen.base) await spill(table, writing.append.run, seen)
  writing.full_at = seen.base
}

function busy({ run, lane }: Append): Fault {
  const message = `Cannot append to lane "${lane}" of run "${run.run_id}": ${MAX_TRIES} tries met a full tail or another writer. Try again.`
  return new Fault('Unavailable', 'store_busy', message)
}
