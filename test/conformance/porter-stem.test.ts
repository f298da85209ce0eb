import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { searchWords } from '../../shared/graph/search-words.ts'
import { filesBelow, readText } from '../unit/docs/markdown.ts'

/** Ranking looks stems up in SQLite's index: ours must be SQLite's. */
test('a text has the words and stems that FTS5 gives it', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE terms USING fts5vocab (words, row)`)
  const put = db.prepare('INSERT INTO words (rowid, text) VALUES (1, ?)')
  const terms = db.prepare('SELECT term FROM terms ORDER BY term')
  const bySqlite = (text: string): readonly string[] => {
    db.exec('DELETE FROM words')
    put.run(text)
    return terms.all().map(({ term }) => String(term))
  }
  const ours = (text: string) => [...new Set(searchWords(text).map(({ stem }) => stem))].toSorted()
  const sorted = (words: readonly string[]) => [...words].toSorted()
  for (const path of filesBelow(['docs'], '.md'))
    expect(ours(readText(path)), path).toEqual(sorted(bySqlite(readText(path))))
  for (const text of [
    'Ελλάδα Αθήνα Россия Йошкар-Ола Київ 대한민국 도미니카 공화국 ガギグ 東京都 مصر القاهرة',
    'Café São Tomé Åland Tromsø Łódź İstanbul naïve',
    'Café São Tomé naïve й'.normalize('NFD'),
    'भारत ประเทศไทย ישראל a\u0335b a\u20ddb',
  ])
    expect(ours(text), text).toEqual(sorted(bySqlite(text)))
  const bases = [
    'relat',
    'condition',
    'adjust',
    'hop',
    'fall',
    'hous',
    'commun',
    'happ',
    'skis',
    'control',
    'oper',
    'trade',
  ]
  const endings = [
    's',
    'es',
    'ies',
    'ed',
    'ing',
    'eed',
    'ational',
    'ization',
    'fulness',
    'iveness',
    'ousness',
    'y',
    'ement',
    'al',
    'ogi',
    'bli',
    'e',
    'ely',
    'ion',
  ]
  for (const base of bases) {
    const text = endings.map((ending) => base + ending).join(' ')
    expect(ours(text)).toEqual(sorted(bySqlite(text)))
  }
  for (const text of ['Ænes Reykjavík ÅNGSTRÖM naïve', '北京 東京', 'Łódź straße', "don't o'clock x-ray 3.14 a_b"]) {
    expect(ours(text), text).toEqual(sorted(bySqlite(text)))
  }
  db.close()
})
