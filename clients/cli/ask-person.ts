import { askLine } from './ask-line.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'

/** Asks y or n on a terminal; Refused not_confirmed unless it is yes. Nobody is asked elsewhere, nor with `yes`. */
export async function askPerson(
  session: Session,
  { question, yes, instead }: { readonly question: string; readonly yes: boolean; readonly instead: string },
): Promise<void> {
  if (yes || !session.asks || (await saysYes(question))) return
  throw new Refused({ code: 'not_confirmed', detail: instead })
}

async function saysYes(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askLine(`${question} [y/n] `)) ?? '')
}
