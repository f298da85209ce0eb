import { describe, expect, test } from 'vitest'
import { findNames, type NameTree, type NameUse, nameKeys, nameLinks } from '../../../shared/graph/mentions.ts'

/** A tree of these names; each is called by its own text, and a branch by the words it stands for. */
function treeOf(...names: readonly string[]): NameTree<string, string> {
  const keys = new Map(names.flatMap((name) => nameKeys([name]).map(({ key }) => [key, name] as const)))
  const branch = (begun: string) =>
    [...keys.keys()].some((key) => key === begun || key.startsWith(`${begun} `)) ? begun : undefined
  return {
    first: branch,
    next: (begun, joined) => branch(`${begun} ${joined}`),
    nameAt: (begun) => keys.get(begun),
  }
}

function found(text: string, ...names: readonly string[]): readonly string[] {
  return findNames(text, treeOf(...names)).map(({ name, start, end }) => `${name}: ${text.slice(start, end)}`)
}

test('a name has at most 24 words: what is longer is a text', () => {
  const words = (count: number) => Array.from({ length: count }, () => 'a').join(' ')
  expect(nameKeys([words(24)])).toHaveLength(1)
  expect(nameKeys([words(25)])).toEqual([])
  expect(nameKeys([`${words(24)} (film)`]).map(({ key }) => key)).toEqual([words(24)])
})

describe('findNames()', () => {
  test('finds whole words as they are written, at the start of a sentence too', () => {
    expect(found('Oslo lies north; Osloers say so, in oslo.', 'Oslo')).toEqual(['Oslo: Oslo', 'Oslo: oslo'])
    expect(found('Aluminium alloy, or an aluminium alloy.', 'aluminium alloy')).toHaveLength(2)
    expect(found('a NIGHT AT THE OPERA, a night at the opera', 'A Night at the Opera')).toEqual([])
    expect(found('the Beatles', 'The Beatles')).toEqual(['The Beatles: the Beatles'])
  })

  test('takes the longest name, and none over another', () => {
    const names = ['New York', 'New York City', 'York City Council', 'Council']
    expect(found('the New York City Council', ...names)).toEqual(['New York City: New York City', 'Council: Council'])
  })

  test('leaves out the bracket at the end of a name, unless the text has it', () => {
    expect(found('Ed Wood made films. Ed Wood (film) is one.', 'Ed Wood (film)')).toEqual([
      'Ed Wood (film): Ed Wood',
      'Ed Wood (film): Ed Wood (film',
    ])
  })

  test('blanks, hyphens and the kind of apostrophe between words do not count; other marks do', () => {
    expect(found('the half-brother of Zone A, zone-A and zone  A', 'zone A')).toHaveLength(3)
    expect(found('St. Maurice’s Abbey', "St. Maurice's Abbey")).toHaveLength(1)
    expect(found('He saw Ed. Wood was there.', 'Ed Wood')).toEqual([])
    expect(found('Lambert , Margrave of Tuscany', 'Lambert, Margrave of Tuscany')).toHaveLength(1)
  })
})

describe('nameLinks()', () => {
  const use = (over: Partial<NameUse>): NameUse => {
    return { written: 'first', bearers: 1, capital: 3, small: 0, ...over }
  }

  test('a name that most texts write small is a word, and a word of many texts is left alone', () => {
    expect(nameLinks(use({}), 1_000)).toBe('capital')
    expect(nameLinks(use({ small: 4 }), 1_000)).toBe('none')
    expect(nameLinks(use({ small: 4 }), 100_000)).toBe('all')
    expect(nameLinks(use({ written: 'proper', small: 4 }), 1_000)).toBe('all')
    expect(nameLinks(use({ written: 'small', small: 5, capital: 1 }), 1_000)).toBe('none')
  })

  test('a name that very many texts have tells nothing', () => {
    expect(nameLinks(use({ capital: 21 }), 1_000)).toBe('none')
    expect(nameLinks(use({ capital: 21 }), 10_000)).toBe('capital')
  })

  test('nobody, or more namesakes than can be meant, gives no edge', () => {
    expect(nameLinks(use({ bearers: 0 }), 1_000)).toBe('none')
    expect(nameLinks(use({ bearers: 5 }), 1_000)).toBe('capital')
    expect(nameLinks(use({ bearers: 6 }), 1_000)).toBe('none')
  })
})
