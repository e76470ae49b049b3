import { describe, expect, test } from 'vitest';
import { fakeExchange } from '../../support/fake-exchange.ts';

describe('an exchange', () => {
  test('leaves its place of admission once: when told to, or else at its end', () => {
    const left: string[] = [];
    const [told, ended] = [fakeExchange(), fakeExchange()];
    told.exchange.takeSeat(() => () => left.push('told'));
    ended.exchange.takeSeat(() => () => left.push('ended'));
    expect(left).toEqual([]);
    told.exchange.leaveSeat();
    told.exchange.leaveSeat();
    expect(left).toEqual(['told']);
    told.end();
    ended.end();
    expect(left).toEqual(['told', 'ended']);
  });

  test('is admitted once, when its form has arrived, even if there was no place for it', () => {
    const { exchange } = fakeExchange();
    let asked = 0;
    exchange.admitLater(() => {
      asked++;
      throw new Error('no place');
    });
    expect(() => exchange.admit()).toThrow('no place');
    exchange.admit();
    expect(asked).toBe(1);
  });

  test('says that its status is final with the head of the answer, or at its end if there was none', () => {
    const said: string[] = [];
    const [answered, gone] = [fakeExchange(), fakeExchange()];
    answered.exchange.whenAnswered(() => said.push('answered'));
    gone.exchange.whenAnswered(() => said.push('gone'));
    answered.exchange.answered();
    expect(said).toEqual(['answered']);
    answered.end();
    gone.end();
    expect(said).toEqual(['answered', 'gone']);
  });

  test('takes no place after its end', () => {
    const { exchange, end } = fakeExchange();
    end();
    exchange.takeSeat(() => {
      throw new Error('no place');
    });
  });

  test('holds no place while it steps aside, and takes one again if it had one', () => {
    const { exchange, end } = fakeExchange();
    exchange.stepAside()();
    let taken = 0;
    exchange.takeSeat(() => {
      taken++;
      return () => taken--;
    });
    const stepBack = exchange.stepAside();
    expect(taken).toBe(0);
    stepBack();
    expect(taken).toBe(1);
    end();
    expect(taken).toBe(0);
  });

  test('runs what is to be done at its end once, in order, and at once when it is over', () => {
    const { exchange, end } = fakeExchange();
    const done: string[] = [];
    exchange.atEnd(() => done.push('first'));
    exchange.atEnd(() => done.push('second'));
    expect(done).toEqual([]);
    end();
    end();
    expect(done).toEqual(['first', 'second']);
    exchange.atEnd(() => done.push('late'));
    expect(done).toEqual(['first', 'second', 'late']);
  });

  test('aborts its signal when the client goes before the answer is complete, and not after it', () => {
    const [whole, broken] = [fakeExchange({ whole: true }), fakeExchange({ whole: false })];
    const signals = [whole, broken].map(({ exchange }) => exchange.signal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    whole.end();
    broken.end();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(broken.exchange.signal.aborted).toBe(true);
  });

  test('has the status that was sent, or 499 when none was', () => {
    expect([fakeExchange({ status: 304 }), fakeExchange()].map(({ exchange }) => exchange.status)).toEqual([304, 499]);
  });

  test.each([
    ['/oauth/token', true],
    ['/oauth', true],
    ['/kapis/x/v1/oauth', false],
  ])('of %s speaks OAuth: %s', (rawTarget, expected) => {
    expect(fakeExchange({ rawTarget }).exchange.speaksOAuth).toBe(expected);
  });
});
