"""What finetuning will do, before anything is trained: a main task that uses 4 of 10 pretrained features."""

from recombine.tasks import diagonal_teachers
from recombine.theory import predict_transfer


def main(rows: tuple[int, ...] = (16, 32, 64)) -> None:
    pair = diagonal_teachers(inputs=300, known=10, active=4, overlap=4, amplitude="1/k")
    forecast = predict_transfer(pair.aux.coefficients, pair.main.coefficients, n=rows, scale=(1, 0.1))
    print(forecast)
    # Without rescaling the network is lazy: it keeps all ten features and needs more rows to tell them apart. With
    # weights ten times smaller it is nested: it selects the four that it needs.


if __name__ == "__main__":
    main()
